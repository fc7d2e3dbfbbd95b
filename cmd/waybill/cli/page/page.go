// Package page lays out text for people: lines, wrapped text, tables, and the formats of
// numbers, times and ids. A Page is a buffer with a width and colors; the caller writes its
// bytes to a stream. The package knows nothing about runs or stores.
package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/terminal"
)

// Page collects text for people. For a terminal it is wrapped to the width and may be colored;
// for a pipe or a file it is plain. The caller writes its bytes in one piece.
type Page struct {
	bytes.Buffer
	styles terminal.Styles
	Width  int // in columns; 0: unlimited, for a pipe or a file
}

// New returns an empty page. Width 0 is for a pipe or a file: lines are not wrapped, and
// callers print complete ids.
func New(colors bool, width int) *Page {
	return &Page{styles: terminal.NewStyles(colors), Width: width}
}

// Bold emphasizes text, such as a name or a title.
func (p *Page) Bold(s string) string { return p.styles.Bold(s) }

// Dim de-emphasizes text that only some readers need.
func (p *Page) Dim(s string) string { return p.styles.Dim(s) }

// Good colors text about a success.
func (p *Page) Good(s string) string { return p.styles.Good(s) }

// Warn colors text that a person should check.
func (p *Page) Warn(s string) string { return p.styles.Warn(s) }

// Bad colors text about a failure or damage.
func (p *Page) Bad(s string) string { return p.styles.Bad(s) }

// Line writes one line and removes trailing spaces. Arguments from untrusted sources must be
// passed through Clean first; Text and Table call it themselves.
func (p *Page) Line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.WriteByte('\n')
}

// HelpWidth is the width, in columns, to which generated help text is wrapped.
const HelpWidth = 88

const (
	// TextWidthMax bounds wrapped text, in columns, since longer lines are hard to read.
	TextWidthMax = 96
	// TextWidthMin is the width in columns below which text is not wrapped further, so that
	// it stays readable in a very narrow terminal.
	TextWidthMin = 20
)

// Text writes text from an untrusted source: cleaned and wrapped, the first line after lead
// and the others indented by the width of lead.
func (p *Page) Text(lead, s string) { p.StyledText(lead, s, Plain) }

// Plain is the style that returns text unchanged, for StyledText.
func Plain(line string) string { return line }

// StyledText is Text that applies paint, such as p.Bold or Plain, to each line.
func (p *Page) StyledText(lead, s string, paint func(string) string) {
	used := terminal.TextWidth(lead)
	width := 0
	if p.Width > 0 {
		width = max(min(p.Width, TextWidthMax)-used, TextWidthMin)
	}
	for line := range strings.SplitSeq(terminal.Wrap(strings.TrimRight(Clean(s), "\n"), width), "\n") {
		p.Line("%s%s", lead, paint(line))
		lead = strings.Repeat(" ", used)
	}
}

// Facts writes short facts on one line, separated by dots, or on several lines if they do not
// fit. A fact is never broken, so that ids in it can be copied.
func (p *Page) Facts(parts ...string) {
	const between = " · "
	line := ""
	for _, part := range parts {
		if line != "" && p.Width > 0 && terminal.TextWidth(line+between+part) > p.Width {
			p.Line("%s", p.Dim(line))
			line = ""
		}
		if line != "" {
			line += between
		}
		line += part
	}
	p.Line("%s", p.Dim(line))
}

// Clean makes text from an untrusted source safe to print: it replaces control characters by
// visible ones, so that the text cannot send escape sequences to the terminal.
func Clean(s string) string { return terminal.Clean(s) }

// Fault writes an error for people: the message with its code, and the suggestion on the lines
// below.
func (p *Page) Fault(f *fault.Fault) {
	p.Text(p.Bad("error: "), f.Message+" "+"["+string(f.Code)+"]")
	if f.Suggestion != "" {
		p.Text("  ", f.Suggestion)
	}
}
