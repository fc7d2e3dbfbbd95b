package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/terminal"
)

// page is text for people, laid out for where it goes: wrapped to the width of the
// terminal and colored only there, plain everywhere else.
type page struct {
	bytes.Buffer
	styles terminal.Styles
	width  int // 0: as long as the text is
}

// newPageOf makes an empty page.
func newPageOf(colors bool, width int) *page {
	return &page{styles: terminal.NewStyles(colors), width: width}
}

// newPage makes a page for a stream of this call.
func (a *app) newPage(to any) *page { return newPageOf(a.colors(to), a.widthOf(to)) }

func (p *page) bold(s string) string { return p.styles.Bold(s) }
func (p *page) dim(s string) string  { return p.styles.Dim(s) }
func (p *page) good(s string) string { return p.styles.Good(s) }
func (p *page) warn(s string) string { return p.styles.Warn(s) }
func (p *page) bad(s string) string  { return p.styles.Bad(s) }

// line writes one line. What came from outside must have been cleaned.
func (p *page) line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.WriteByte('\n')
}

const (
	// textWidthMax: longer lines are hard to read.
	textWidthMax = 96
	// textWidthMin keeps text readable, if not pretty, in a window that is no window.
	textWidthMin = 20
)

// text writes text that came from outside, wrapped, its first line behind lead and
// the others below it.
func (p *page) text(lead, s string) { p.painted(lead, s, plainly) }

func plainly(line string) string { return line }

// painted is text in a style.
func (p *page) painted(lead, s string, paint func(string) string) {
	used := terminal.TextWidth(lead)
	room := 0
	if p.width > 0 {
		room = max(min(p.width, textWidthMax)-used, textWidthMin)
	}
	for line := range strings.SplitSeq(terminal.Wrap(strings.TrimRight(clean(s), "\n"), room), "\n") {
		p.line("%s%s", lead, paint(line))
		lead = strings.Repeat(" ", used)
	}
}

// facts writes short facts about something on one line, or on as many as they need:
// a fact is never broken.
func (p *page) facts(parts ...string) {
	const between = " · "
	line := ""
	for _, part := range parts {
		if line != "" && p.width > 0 && terminal.TextWidth(line+between+part) > p.width {
			p.line("%s", p.dim(line))
			line = ""
		}
		if line != "" {
			line += between
		}
		line += part
	}
	p.line("%s", p.dim(line))
}

// clean makes text that came from outside safe to show: it must not drive the
// terminal that shows it.
func clean(s string) string { return terminal.Clean(s) }

// fault says what is wrong, and what to do next.
func (p *page) fault(f *fault.Fault) {
	p.text(p.bad("error: "), f.Message+" "+"["+string(f.Code)+"]")
	if f.Suggestion != "" {
		p.text("  ", f.Suggestion)
	}
}
