// Package pages makes web pages of what use cases say about runs: a report to hand on, and the sections of which it is
// made. It has no I/O and decides nothing; package markup keeps any text from becoming a program.
//
// Every section is a function of the document of one use case, so that other pages can show it too. Facts have data-
// attributes, for programs that read a page. Start reading at Report.
package pages

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/waybill/waybill/projections/markup"
)

//go:embed style.css
var style string

// Style returns the style sheet of all pages.
func Style() string { return strings.TrimSpace(style) }

// Shell is what all pages have around their sections.
type Shell struct {
	// Title names the page; Kicker says what it is, in a line above.
	Title, Kicker string
	// Lead is the line below the title.
	Lead     *markup.Node
	Sections []Section
	// End is the last line of the page.
	End *markup.Node
	// Served reports a page that a server sends with its own policy, style sheet and script.
	Served bool
}

// Section is a part of a page with a heading.
type Section struct {
	ID, Title string
	Content   *markup.Node
}

// Node returns the page.
func (s Shell) Node() *markup.Node {
	var links, sections []*markup.Node
	for _, part := range s.Sections {
		links = append(links, markup.E(markup.Li, markup.Link(markup.Anchor(part.ID), markup.Text(part.Title))))
		sections = append(sections, part.Node())
	}
	top := []*markup.Node{markup.Cls("top"), paragraph(markup.Cls("kicker"), markup.Text(s.Kicker)),
		markup.E(markup.H1, markup.Text(sentence(s.Title)))}
	if s.Lead != nil {
		top = append(top, s.Lead)
	}
	if len(links) > 1 {
		top = append(top, markup.E(markup.Nav, markup.Cls("toc"), markup.Set(markup.AriaLabel, "Sections"),
			markup.E(markup.Ul, links...)))
	}
	main := append([]*markup.Node{markup.Set(markup.ID, "main"), markup.Num(markup.TabIndex, -1)}, sections...)
	body := []*markup.Node{markup.Link(markup.Anchor("main"), markup.Cls("skip"), markup.Text("Skip to the content")),
		markup.E(markup.Header, top...), markup.E(markup.Main, main...)}
	if s.End != nil {
		body = append(body, markup.E(markup.Footer, markup.Cls("end"), s.End))
	}
	if s.Served {
		return markup.Document{Title: sentence(s.Title), Body: body, Served: true}.Node()
	}
	return markup.Document{Title: sentence(s.Title), Style: Style(), Body: body}.Node()
}

// Node returns the section with its heading.
func (s Section) Node() *markup.Node {
	return markup.E(markup.Section, markup.Set(markup.ID, s.ID), markup.Set(markup.AriaLabelledBy, "h-"+s.ID),
		markup.E(markup.H2, markup.Set(markup.ID, "h-"+s.ID), markup.Text(s.Title)), s.Content)
}

// facts is a list of names and values.
type facts struct{ items []*markup.Node }

// add adds a value. fact names it for programs, "" for one that they need not read.
func (f *facts) add(name, fact string, value ...*markup.Node) {
	dd := value
	if fact != "" {
		dd = append([]*markup.Node{markup.Data("fact", fact)}, value...)
	}
	f.items = append(f.items, markup.E(markup.Dt, markup.Text(name)), markup.E(markup.Dd, dd...))
}

// text adds a text that is not "".
func (f *facts) text(name, fact, value string) {
	if value != "" {
		f.add(name, fact, markup.Text(value))
	}
}

// node returns the list.
func (f *facts) node() *markup.Node {
	return markup.E(markup.Dl, append([]*markup.Node{markup.Cls("facts")}, f.items...)...)
}

// table is a table with a caption. Its rows are stacked on a narrow window.
type table struct {
	caption string
	columns []string
	rows    []*markup.Node
}

// cell is a cell of a table.
type cell []*markup.Node

// row adds a row; the first cell is its heading.
func (t *table) row(attrs []*markup.Node, cells ...cell) {
	items := slices.Clone(attrs)
	for i, c := range cells {
		if i == 0 {
			items = append(items, markup.E(markup.Th, append([]*markup.Node{markup.Set(markup.Scope, "row")}, c...)...))
			continue
		}
		items = append(items, markup.E(markup.Td, append([]*markup.Node{markup.Data("th", t.columns[i])}, c...)...))
	}
	t.rows = append(t.rows, markup.E(markup.Tr, items...))
}

// node returns the table.
func (t *table) node() *markup.Node {
	var head []*markup.Node
	for _, c := range t.columns {
		head = append(head, markup.E(markup.Th, markup.Set(markup.Scope, "col"), markup.Text(c)))
	}
	return markup.E(markup.Table, markup.Cls("stack"), markup.E(markup.Caption, markup.Text(t.caption)),
		markup.E(markup.Thead, markup.E(markup.Tr, head...)), markup.E(markup.Tbody, t.rows...))
}

// folded is content behind a line that opens it. It needs no script, and is open in print.
func folded(open bool, title string, content ...*markup.Node) *markup.Node {
	items := []*markup.Node{markup.E(markup.Summary, markup.Text(title))}
	if open {
		items = append([]*markup.Node{markup.On(markup.Open)}, items...)
	}
	return markup.E(markup.Details, append(items, content...)...)
}
