// Package pagetest reads pages as a browser does, for tests: it checks that a page has only the elements, attributes
// and addresses of a list, and finds the facts in it. It shares no code with package markup, which makes the pages.
package pagetest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

// elements are those that a page may have. None of them loads anything or runs a program.
var elements = strings.Fields(`html head meta title style body a article blockquote br button caption circle code dd del desc
	details div dl dt em footer form g h1 h2 h3 h4 h5 h6 header hr input label li main nav ol option p path pre rect section
	select small span strong summary svg table tbody td text th thead time title tr ul`)

// attributes are those that an element may have, besides data- and aria- ones.
var attributes = strings.Fields(`charset class content cx cy d datetime for height href http-equiv id lang name open r rel role rx
	scope start tabindex text-anchor type value viewbox width x y`)

// Page is a page that was read.
type Page struct{ root *html.Node }

// Read reads a page, and reports everything in it that is not in the lists, is an address of another scheme than http,
// https and mailto, or cannot be seen.
func Read(t testing.TB, page []byte) Page {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	check(t, root)
	for i, r := range string(page) {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			t.Errorf("%U at byte %d: %q", r, i, page[max(0, i-40):min(len(page), i+40)])
			break
		}
	}
	return Page{root}
}

// check checks a node and what is in it.
func check(t testing.TB, n *html.Node) {
	t.Helper()
	switch n.Type {
	case html.CommentNode:
		t.Errorf("a comment: %q", n.Data)
	case html.ElementNode:
		if !slices.Contains(elements, strings.ToLower(n.Data)) {
			t.Errorf("element %q", n.Data)
		}
		if n.Data == "style" && (n.Parent.Data != "head" || strings.Contains(n.FirstChild.Data, "url(") ||
			strings.Contains(n.FirstChild.Data, "@import")) {
			t.Errorf("a style in %s", n.Parent.Data)
		}
		for _, a := range n.Attr {
			checkAttr(t, n, a)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		check(t, c)
	}
}

// checkAttr checks an attribute.
func checkAttr(t testing.TB, n *html.Node, a html.Attribute) {
	t.Helper()
	name := strings.ToLower(a.Key)
	if !slices.Contains(attributes, name) && !strings.HasPrefix(name, "data-") && !strings.HasPrefix(name, "aria-") {
		t.Errorf("attribute %s of %s", a.Key, n.Data)
	}
	if name != "href" {
		return
	}
	// A browser leaves out white space in an address, and reads schemes in any case.
	to := strings.ToLower(strings.Join(strings.FieldsFunc(a.Val, func(r rune) bool { return r <= ' ' }), ""))
	for _, beginning := range []string{"http://", "https://", "mailto:", "#", "./", "/"} {
		if strings.HasPrefix(to, beginning) && !strings.HasPrefix(to, "//") {
			return
		}
	}
	t.Errorf("address %q", a.Val)
}

// All calls each for the elements with an attribute, in order.
func (p Page) All(attr string, each func(value string, e Element)) {
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for _, a := range n.Attr {
			if a.Key == attr {
				each(a.Val, Element{n})
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(p.root)
}

// Values returns the values of an attribute, in order.
func (p Page) Values(attr string) (out []string) {
	p.All(attr, func(value string, _ Element) { out = append(out, value) })
	return out
}

// Element is an element of a page.
type Element struct{ n *html.Node }

// Attr returns the value of an attribute, "" without one.
func (e Element) Attr(name string) string {
	for _, a := range e.n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Text returns the text of the element, with single spaces.
func (e Element) Text() string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(e.n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// Text returns the text of the page.
func (p Page) Text() string { return Element{p.root}.Text() }

// Names returns the names of the elements of the page in order.
func (p Page) Names() (out []string) {
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			out = append(out, n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(p.root)
	return out
}
