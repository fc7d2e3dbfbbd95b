package pagetest

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Structure reports what a reader with a screen reader or a keyboard would miss: one heading of the first level and
// none that skips a level, landmarks, a link to the content, headings of tables with their scope, names of drawings,
// and ids that are unique and exist where they are referred to.
func (p Page) Structure(t testing.TB) {
	t.Helper()
	s := structure{ids: map[string]int{}, names: map[string]int{}}
	s.walk(p.root)
	for _, name := range []string{"h1", "header", "main", "footer", "title"} {
		if s.names[name] != 1 && !(name == "title" && s.names["svg"] > 0) {
			t.Errorf("%d of %s", s.names[name], name)
		}
	}
	last := 0
	for _, level := range s.levels {
		if level > last+1 {
			t.Errorf("a heading of level %d follows one of level %d", level, last)
		}
		last = level
	}
	for id, n := range s.ids {
		if n > 1 {
			t.Errorf("id %q %d times", id, n)
		}
	}
	for _, id := range s.refs {
		if s.ids[id] == 0 {
			t.Errorf("no element has the id %q", id)
		}
	}
	if len(s.refs) == 0 || s.refs[0] != "main" {
		t.Errorf("the first link is not to the content: %q", s.refs)
	}
	for _, problem := range s.problems {
		t.Error(problem)
	}
}

// structure is what was found in a page.
type structure struct {
	ids, names map[string]int
	levels     []int
	refs       []string // ids that are referred to
	problems   []string
}

func (s *structure) walk(n *html.Node) {
	e := Element{n}
	if n.Type == html.ElementNode {
		if n.Data != "header" || n.Parent.Data == "body" { // others are of articles
			s.names[n.Data]++
		}
		if id := e.Attr("id"); id != "" {
			s.ids[id]++
		}
		if to, ok := strings.CutPrefix(e.Attr("href"), "#"); ok {
			s.refs = append(s.refs, to)
		}
		s.refs = append(s.refs, strings.Fields(e.Attr("aria-labelledby"))...)
		switch {
		case len(n.Data) == 2 && n.Data[0] == 'h' && '1' <= n.Data[1] && n.Data[1] <= '6':
			s.levels = append(s.levels, int(n.Data[1]-'0'))
		case n.Data == "th" && !slices.Contains([]string{"row", "col"}, e.Attr("scope")):
			s.problems = append(s.problems, "a heading of a table without its scope: "+e.Text())
		case n.Data == "svg" && (e.Attr("role") != "img" || e.Attr("aria-labelledby") == ""):
			s.problems = append(s.problems, "a drawing without a name")
		case n.Data == "nav" && e.Attr("aria-label") == "":
			s.problems = append(s.problems, "a navigation without a name")
		case n.Data == "html" && e.Attr("lang") == "":
			s.problems = append(s.problems, "a page without its language")
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s.walk(c)
	}
}
