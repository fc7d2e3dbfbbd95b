package page

import (
	"strings"
	"unicode"
)

// NewExact returns a page for what a person consents to: on a terminal with so many columns, each
// of its lines is one row. Text that is too wide is folded and never cut, and a further row of a
// text starts with the sign of that text (Quote) or with spaces, so that text cannot draw what looks
// like a line of Waybill.
func NewExact(colors bool, columns int) *Page {
	p := New(colors, max(columns-1, 1)) // a full row makes some terminals start another one
	p.exact = true
	return p
}

// Rows returns the lines of an exact page without their line ends: each is one row, but for Unbroken.
func (p *Page) Rows() []string {
	if p.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
}

// bar is the sign before each line of quoted text. Text in one line cannot contain it; see Name.
const bar = "│ "

// barOf is the bar after lead; a pipe or file gets none, so that programs read the text as it is.
func (p *Page) barOf(lead string) string {
	if p.Width == 0 {
		return lead
	}
	return lead + p.Dim(bar)
}

// Quote writes text of several lines from an untrusted source: cleaned and wrapped, with lead and a
// bar before each line. Each line of the text is behind the bar, also those that are wrapped.
func (p *Page) Quote(lead, text string, paint func(string) string) {
	lead = p.barOf(lead)
	p.Block(lead, lead, p.trimmed(text), paint)
}

// QuoteExactly is Quote for text whose spaces matter, such as JSON: it is folded and not wrapped.
func (p *Page) QuoteExactly(lead, text string, paint func(string) string) {
	lead = p.barOf(lead)
	p.lines(lead, lead, strings.TrimRight(p.clean(text), "\n"), paint)
}

// Verbatim writes one line of text that is safe to print, such as a command line, after lead. It is
// not wrapped, since spaces in it matter; an exact page folds it.
func (p *Page) Verbatim(lead, text string, paint func(string) string) {
	p.lines(lead, strings.Repeat(" ", TextWidth(lead))+hang, text, paint)
}

// Unbroken writes a command of Waybill's own for a person to copy, on a line of its own that also an
// exact page does not fold: the terminal breaks it and copies it as one line. It is the only line of an
// exact page that may have several rows.
func (p *Page) Unbroken(line string) {
	exact := p.exact
	p.exact = false
	p.Line("%s", line)
	p.exact = exact
}

// hang precedes the further rows of a line that is folded: they never start where a bar is.
const hang = "    "

// fold breaks a line to rows that fit an exact page behind first and rest columns, at a space where
// that leaves no short row. Nothing is omitted. On any other page the line stays whole.
func (p *Page) fold(line string, first, rest int) (rows []string) {
	width := max(p.Width-first, 1)
	if !p.exact || len(line) <= width {
		return []string{line}
	}
	begin, style := "", "" // the style at the start of the row, and the present one
	start, used, space, marks := 0, 0, 0, 0
	for i, n := 0, 0; i < len(line); i += n {
		if line[i] == esc {
			style = styleSequence.FindString(line[i:])
			n = max(len(style), 1)
			continue
		}
		r, size := decode(line[i:])
		n = size
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		w := columnsOf(r, marks)
		if used+w > width && used > 0 {
			end := i
			if space > start && i-space < (i-start)/2 {
				end = space
			}
			rows = append(rows, begin+line[start:end]+resetOf(style))
			begin, start, i, n = style, end, end, 0
			used, space, marks = 0, 0, 0
			width = max(p.Width-rest, 1)
			continue
		}
		if used += w; r == ' ' {
			space = i + 1
		}
	}
	return append(rows, begin+line[start:])
}

// resetOf ends a style at the end of a row.
func resetOf(style string) string {
	if style == "" {
		return ""
	}
	return "\x1b[m"
}

// foldLines folds the lines of a text that are wider than an exact page. A further row starts with
// the indentation of its line and hang.
func (p *Page) foldLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		whole, ended := strings.CutSuffix(line, "\n")
		indent := hang + whole[:len(whole)-len(strings.TrimLeft(whole, " "))]
		if len(indent) > p.Width/2 {
			indent = hang
		}
		for i, row := range p.fold(whole, 0, len(indent)) {
			if i > 0 {
				b.WriteString("\n" + indent)
			}
			b.WriteString(row)
		}
		if ended {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// marksMax is how many combining marks on one character count as no columns: no language needs more.
const marksMax = 4

// columnsOf returns the columns that a terminal may use for a character: at least one for each, also
// where the character forms a cluster with its neighbors, since terminals differ in that.
func columnsOf(r rune, marks int) int {
	if r < 0x7f {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) && marks <= marksMax {
		return 0
	}
	return max(TextWidth(string(r)), 1)
}
