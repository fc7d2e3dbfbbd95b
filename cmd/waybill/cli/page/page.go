// Package page lays out text for people: it cleans text from other sources, measures, wraps and
// styles it, and formats tables, numbers, times and ids. Everything that Waybill shows at a
// terminal passes through it. A Page is a buffer with a width and colors; the caller writes its
// bytes to a stream. The package knows nothing about runs or stores.
package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
)

// Page collects text for people. For a terminal it is wrapped to the width and may be colored;
// for a pipe or a file it is plain. The caller writes its bytes in one piece.
type Page struct {
	bytes.Buffer
	Styles
	Width  int    // in columns; 0: unlimited, for a pipe or a file
	screen Screen // of a live page; nil: lines are collected
	exact  bool   // no line is wider than Width; see NewExact
	blank  bool   // the last line is empty, or there is none
}

// New returns an empty page. Width 0 is for a pipe or a file: lines are not wrapped, and
// callers print complete ids.
func New(colors bool, width int) *Page {
	return &Page{Styles: NewStyles(colors), Width: width, blank: true}
}

// Screen is where the lines of a live page go. Its width may change at any time.
type Screen interface {
	Print(text string)
	Width() int
}

// NewLive returns a page that collects nothing: each line is printed as soon as it is written,
// and text is wrapped to the present width of the screen.
func NewLive(colors bool, screen Screen) *Page {
	p := New(colors, screen.Width())
	p.screen = screen
	return p
}

// Line writes one line and removes trailing spaces; line breaks in its arguments become spaces.
// Arguments from untrusted sources must be passed through OneLine first, which removes styles in
// them; Text and Table call it themselves.
func (p *Page) Line(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	p.Print(strings.TrimRight(line, " ") + "\n")
}

// Print writes text: a line with its line end, or a prompt without one. Of the characters that are
// not printed, only line feeds and styles remain.
func (p *Page) Print(text string) {
	text = Scrub(text)
	if p.exact {
		text = p.foldLines(text)
	}
	p.WriteString(text)
	p.blank = text == "\n"
	if p.screen != nil {
		p.screen.Print(p.String())
		p.Reset()
	}
}

// Blank writes an empty line unless the last line is empty or nothing was written.
//
//go:noinline
func (p *Page) Blank() {
	if !p.blank {
		p.Print("\n")
	}
}

// HelpWidth is the width, in columns, of the lines of generated parts of help texts, as of written ones; Reflow lays
// them out again.
const HelpWidth = 88

const (
	// TextWidthMax bounds wrapped text, in columns, since longer lines are hard to read
	// (typographers recommend 45 to 90).
	TextWidthMax = 96
	// TextWidthMin is the width in columns that text needs to be readable beside other columns.
	TextWidthMin = 20
	// wrapMin is the least width in columns to which text is wrapped.
	wrapMin = 10
)

// Columns returns the width of wrapped text in a window, used columns of which are taken; 0 for
// no wrapping if the window has no width. Where too little is left, the terminal breaks the lines,
// and the text has TextWidthMin columns.
func Columns(window, used int) int {
	if window == 0 {
		return 0
	}
	if left := min(window, TextWidthMax) - used; left >= wrapMin {
		return left
	}
	return TextWidthMin
}

// Wrap breaks text to the width of the page less used columns.
func (p *Page) Wrap(text string, used int) string {
	if p.screen != nil {
		p.Width = p.screen.Width() // the window may have been resized
	}
	return Wrap(text, Columns(p.Width, used))
}

// Block writes wrapped text that is safe to print: first before its first line, rest before the
// others, and paint applied to each.
func (p *Page) Block(first, rest, text string, paint func(string) string) {
	p.lines(first, rest, p.Wrap(text, max(TextWidth(first), TextWidth(rest))), paint)
}

// lines writes text that is wrapped and safe to print: first before its first line, rest before the
// others. On an exact page a line that is still too wide is folded, with rest before each part.
func (p *Page) lines(first, rest, text string, paint func(string) string) {
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range p.fold(line, TextWidth(first), TextWidth(rest)) {
			if part == "" {
				first = strings.TrimRight(first, " ")
			}
			p.Print(first + paint(part) + "\n")
			first = rest
		}
	}
}

// Text writes a sentence or title from an untrusted source: cleaned and wrapped, the first line
// after lead and the others indented by the width of lead. Line breaks in it become spaces; see Prose
// for text of several lines. It is not inlined, for the size of the binary: hundreds of places call it.
//
//go:noinline
func (p *Page) Text(lead, s string) { p.StyledText(lead, s, Plain) }

// Plain is the style that returns text unchanged, for StyledText.
func Plain(line string) string { return line }

// StyledText is Text that applies paint, such as p.Bold or Plain, to each line.
func (p *Page) StyledText(lead, s string, paint func(string) string) {
	if p.Width == 0 && p.screen == nil && !p.exact { // one line of any width
		if s = strings.TrimSpace(s); !isClean(s) || strings.IndexByte(s, '\n') >= 0 {
			s = p.trimmed(joinLines(s))
		}
		if s == "" {
			lead = strings.TrimRight(lead, " ")
		}
		lead = Scrub(lead)
		for _, part := range [...]string{lead, paint(s), "\n"} {
			p.WriteString(part)
		}
		p.blank = lead == "" && s == ""
		return
	}
	rest := strings.Repeat(" ", TextWidth(lead))
	if p.exact {
		rest += hang
	}
	p.Block(lead, rest, p.trimmed(joinLines(strings.TrimSpace(s))), paint)
}

// Prose is StyledText for text of several lines, which are kept. On a page for a consent use Quote.
func (p *Page) Prose(lead, s string, paint func(string) string) {
	p.Block(lead, strings.Repeat(" ", TextWidth(lead)), p.trimmed(s), paint)
}

// lineBreaks matches the line breaks of all systems and scripts, with the spaces around them.
var lineBreaks = pattern.New(`\s*[\n\v\f\r\x{85}\x{2028}\x{2029}][\s\x{85}\x{2028}\x{2029}]*`)

// joinLines replaces line breaks with spaces.
func joinLines(s string) string {
	if isOneLine(s) {
		return s
	}
	return lineBreaks.ReplaceAllString(s, " ")
}

// isOneLine reports text without line breaks.
func isOneLine(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == 0xc2 && strings.HasPrefix(s[i:], "\u0085"), c == 0xe2 && strings.HasPrefix(s[i:], "\u2028"),
			c == 0xe2 && strings.HasPrefix(s[i:], "\u2029"), '\n' <= c && c <= '\r':
			return false
		}
	}
	return true
}

// clean is Clean, and on an exact page marked.
func (p *Page) clean(s string) string {
	if p.exact {
		return marked(s)
	}
	return Clean(s)
}

// trimmed cleans text and removes the spaces at the end of its lines and the line ends at its end.
func (p *Page) trimmed(s string) string {
	s = strings.TrimRight(p.clean(s), "\n")
	if !strings.HasSuffix(s, " ") && !strings.Contains(s, " \n") {
		return s
	}
	return trailingSpaces.ReplaceAllString(s, "")
}

// trailingSpaces matches the spaces at the end of each line.
var trailingSpaces = pattern.New(`(?m) +$`)

// Facts writes short facts on one line, separated by dots, or on several lines if they do not
// fit. A fact is never broken, so that ids in it can be copied.
func (p *Page) Facts(parts ...string) {
	const between = " · "
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case p.Width > 0 && TextWidth(line+between+part) > p.Width:
			p.Line("%s", p.Dim(line))
			line = part
		default:
			line += between + part
		}
	}
	p.Line("%s", p.Dim(line))
}

// Fault writes an error for people: the message with its code, and the suggestion on the lines
// below. A message may quote text of any source, so its line breaks become spaces.
func (p *Page) Fault(f *fault.Fault) {
	p.Text(p.Bad("error: "), OneLine(f.Message)+" "+"["+string(f.Code)+"]")
	if s := f.Suggestion.String(); s != "" {
		p.Text("  ", OneLine(s))
	}
	if lines, ok := f.Details[fault.LinesDetail].([]string); ok {
		p.lines("", "", p.clean(strings.Join(lines, "\n")), Plain)
	}
}
