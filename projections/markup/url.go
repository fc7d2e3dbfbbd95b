package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/invisible"
)

// URL is an address that a page may link to. The zero URL is the page itself.
type URL struct {
	text string
	away bool // of another site
}

// schemes are the beginnings of the addresses of other sites.
var schemes = []string{"https://", "http://", "mailto:"}

// External returns an address from a text of any origin; ok is false for another scheme, and for a text with white
// space, a backslash or a character that cannot be seen.
func External(text string) (u URL, ok bool) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == '\\' || r == 0xa0 || invisible.Is(r) || r == utf8.RuneError
	}) {
		return URL{}, false
	}
	for _, scheme := range schemes {
		if len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return URL{scheme + text[len(scheme):], true}, true
		}
	}
	return URL{}, false
}

// Anchor returns the address of the element with an id on the page itself.
func Anchor(id string) URL { return URL{text: "#" + escapedPath(id)} }

// File returns the address of a file beside the page.
func File(name string) URL { return URL{text: "./" + escapedPath(name)} }

// Place returns an address on the site of the page: its parts are separated by slashes, from the root on.
func Place(parts ...string) URL {
	out := URL{}
	for _, p := range parts {
		out.text += "/" + escapedPath(p)
	}
	if out.text == "" {
		out.text = "/"
	}
	return out
}

// With returns the address with a parameter; it is unchanged for an empty value.
func (u URL) With(name, value string) URL {
	if value == "" {
		return u
	}
	between := "?"
	if strings.Contains(u.text, "?") {
		between = "&"
	}
	u.text += between + escapedPath(name) + "=" + escapedPath(value)
	return u
}

// escapedPath percent-encodes all bytes but those that have no meaning in an address.
func escapedPath(name string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
		}
	}
	return b.String()
}

// Link returns a link. A site that is linked to learns nothing about the page.
func Link(to URL, items ...*Node) *Node {
	attrs := Group{{kind: attrNode, name: "href", text: to.text}}
	if to.away {
		attrs = append(attrs, &Node{kind: attrNode, name: "rel", text: "noopener noreferrer nofollow"})
	}
	return E(A, append(attrs, items...)...)
}
