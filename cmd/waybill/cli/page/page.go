// Package page lays out text for people: lines, wrapped text, tables, and the words for
// numbers, times and ids. A page is written to memory; it does not know where it goes
// apart from its width and colors, and nothing of runs or stores.
package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/terminal"
)

// Page is text for people, laid out for where it goes: wrapped to the width of
// the terminal and colored only there, plain everywhere else. It collects the
// text; the caller writes its bytes in one piece.
type Page struct {
	bytes.Buffer
	styles terminal.Styles
	Width  int // 0: as long as the text is
}

// New makes an empty page. A width of 0 is that of a pipe or a file: lines are
// as long as their text, and ids are written whole.
func New(colors bool, width int) *Page {
	return &Page{styles: terminal.NewStyles(colors), Width: width}
}

// Bold sets text off, such as a name or a title.
func (p *Page) Bold(s string) string { return p.styles.Bold(s) }

// Dim sets text back that is known or of use only to some readers.
func (p *Page) Dim(s string) string { return p.styles.Dim(s) }

// Good colors what succeeded.
func (p *Page) Good(s string) string { return p.styles.Good(s) }

// Warn colors what a person should look at.
func (p *Page) Warn(s string) string { return p.styles.Warn(s) }

// Bad colors what failed or is damaged.
func (p *Page) Bad(s string) string { return p.styles.Bad(s) }

// Line writes one line. Blanks at its end are cut off. Text from outside must
// have been passed through Clean; Text and Table do that themselves.
func (p *Page) Line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.WriteByte('\n')
}

// HelpWidth is how wide help is written.
const HelpWidth = 88

const (
	// TextWidthMax: longer lines are hard to read.
	TextWidthMax = 96
	// TextWidthMin keeps text readable, if not pretty, in a window that is no window.
	TextWidthMin = 20
)

// Text writes text from outside: cleaned and wrapped, its first line behind
// lead and the others below the first.
func (p *Page) Text(lead, s string) { p.Painted(lead, s, Plainly) }

// Plainly is the style that leaves text as it is, for Painted.
func Plainly(line string) string { return line }

// Painted is Text whose lines are given to paint, such as p.Bold or Plainly.
func (p *Page) Painted(lead, s string, paint func(string) string) {
	used := terminal.TextWidth(lead)
	room := 0
	if p.Width > 0 {
		room = max(min(p.Width, TextWidthMax)-used, TextWidthMin)
	}
	for line := range strings.SplitSeq(terminal.Wrap(strings.TrimRight(Clean(s), "\n"), room), "\n") {
		p.Line("%s%s", lead, paint(line))
		lead = strings.Repeat(" ", used)
	}
}

// Facts writes short facts on one line, separated by dots, or on as many lines
// as they need. A fact is never broken, so that ids in it can be copied.
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

// Clean makes text from outside safe to print: control characters become
// visible, so that it cannot drive the terminal that shows it.
func Clean(s string) string { return terminal.Clean(s) }

// Fault writes an error for people: the message with its code, and the
// suggestion below it.
func (p *Page) Fault(f *fault.Fault) {
	p.Text(p.Bad("error: "), f.Message+" "+"["+string(f.Code)+"]")
	if f.Suggestion != "" {
		p.Text("  ", f.Suggestion)
	}
}
