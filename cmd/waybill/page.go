package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/fault"
)

// page is text for people, laid out for where it goes: wrapped to the width of the
// terminal and colored only there, plain everywhere else.
type page struct {
	bytes.Buffer
	color bool
	width int // 0: as long as the text is
}

func (a *app) newPage(to any) *page {
	return &page{color: a.colors(to), width: a.widthOf(to)}
}

// line writes one line of text that is ours.
func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) style(code, s string) string {
	if !p.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *page) bold(s string) string { return p.style("1", s) }
func (p *page) dim(s string) string  { return p.style("2", s) }
func (p *page) good(s string) string { return p.style("32", s) }
func (p *page) warn(s string) string { return p.style("33", s) }
func (p *page) bad(s string) string  { return p.style("31", s) }

// text writes text that came from outside, wrapped, every line behind indent.
func (p *page) text(indent, s string) {
	for line := range strings.SplitSeq(strings.TrimRight(clean(s), "\n"), "\n") {
		for _, part := range p.wrap(line, len(indent)) {
			p.line("%s", strings.TrimRight(indent+part, " "))
		}
	}
}

// widthMin keeps text readable, if not pretty, in a window that is no window.
const widthMin = 24

// wrap breaks a line between words. What the line began with, a list's dash or
// spaces, stays free below it.
func (p *page) wrap(line string, used int) []string {
	room := max(p.width-used, widthMin)
	if p.width == 0 || utf8.RuneCountInString(line) <= room {
		return []string{line}
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " -*"))]
	hang := strings.Repeat(" ", utf8.RuneCountInString(lead))
	var out []string
	row, count := lead, utf8.RuneCountInString(lead)
	empty := true
	for word := range strings.FieldsSeq(line[len(lead):]) {
		n := utf8.RuneCountInString(word)
		if !empty && count+1+n > room {
			out = append(out, row)
			row, count, empty = hang, len(hang), true
		}
		if !empty {
			row += " "
			count++
		}
		row += word
		count += n
		empty = false
	}
	return append(out, row)
}

// clean makes control characters visible: text from files and logs must not drive
// the terminal that shows it.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == utf8.RuneError) {
			return '�'
		}
		return r
	}, s)
}

// fault says what is wrong, and what to do next.
func (p *page) fault(f *fault.Fault) {
	p.line("%s %s %s", p.bad("error:"), clean(f.Message), p.dim("["+string(f.Code)+"]"))
	if f.Suggestion != "" {
		p.text("  ", f.Suggestion)
	}
}
