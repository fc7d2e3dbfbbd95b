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

// Page is text for people, laid out for where it goes: wrapped to the width of the
// terminal and colored only there, plain everywhere else.
type Page struct {
	bytes.Buffer
	styles terminal.Styles
	Width  int // 0: as long as the text is
}

// New makes an empty page.
func New(colors bool, width int) *Page {
	return &Page{styles: terminal.NewStyles(colors), Width: width}
}

func (p *Page) Bold(s string) string { return p.styles.Bold(s) }

func (p *Page) Dim(s string) string { return p.styles.Dim(s) }

func (p *Page) Good(s string) string { return p.styles.Good(s) }

func (p *Page) Warn(s string) string { return p.styles.Warn(s) }

func (p *Page) Bad(s string) string { return p.styles.Bad(s) }

// Line writes one line. What came from outside must have been cleaned.
func (p *Page) Line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.WriteByte('\n')
}

const (
	// TextWidthMax: longer lines are hard to read.
	TextWidthMax = 96
	// TextWidthMin keeps text readable, if not pretty, in a window that is no window.
	TextWidthMin = 20
)

// Text writes text that came from outside, wrapped, its first line behind lead and
// the others below it.
func (p *Page) Text(lead, s string) { p.Painted(lead, s, Plainly) }

func Plainly(line string) string { return line }

// Painted is text in a style.
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

// Facts writes short facts about something on one line, or on as many as they need:
// a fact is never broken.
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

// Clean makes text that came from outside safe to show: it must not drive the
// terminal that shows it.
func Clean(s string) string { return terminal.Clean(s) }

// Fault says what is wrong, and what to do next.
func (p *Page) Fault(f *fault.Fault) {
	p.Text(p.Bad("error: "), f.Message+" "+"["+string(f.Code)+"]")
	if f.Suggestion != "" {
		p.Text("  ", f.Suggestion)
	}
}
