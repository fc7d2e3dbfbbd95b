package markup

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/invisible"
)

// content writes text of any origin as content. A character that cannot be seen is an element of class u with its
// code point, for instance U+202E, and its code point alone in an element that has no others; line feeds and tabs are
// written as they are, and CR LF is a line feed.
func (w *writer) content(s string) {
	if w.plain {
		w.value(s)
		return
	}
	shaping := 0
	w.escaped(s, func(r rune) {
		switch {
		case r == '\n' || r == '\t':
			w.raw(string(r))
			shaping = 0
			return
		case invisible.Shapes(r):
			if shaping++; shaping <= invisible.ShapingMax {
				return
			}
		}
		w.raw(`<span class="u">` + CodePoint(r) + `</span>`)
	}, func() { shaping = 0 })
}

// value writes text of any origin as the value of an attribute. A character that cannot be seen is its code point.
func (w *writer) value(s string) {
	w.escaped(s, func(r rune) {
		if !invisible.Shapes(r) {
			w.raw(CodePoint(r))
		}
	}, func() {})
}

// CodePoint returns the name of a character that cannot be seen.
func CodePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// escaped writes s with the characters that HTML reads as references. It passes those that cannot be seen to unseen,
// and calls seen before others. Bytes that are not UTF-8 become U+FFFD.
func (w *writer) escaped(s string, unseen func(rune), seen func()) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != 0x7f && references[c] == "" {
			i++
			continue
		}
		if i > from {
			seen()
			w.raw(s[from:i])
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r < utf8.RuneSelf && references[r] != "":
			seen()
			w.raw(references[r])
		case invisible.Is(r):
			unseen(r)
		default:
			seen()
			w.raw(string(r))
		}
		i += n
		from = i
	}
	if from < len(s) {
		seen()
		w.raw(s[from:])
	}
}

// references are the character references of what HTML reads in a text or in a value, by character.
var references = [utf8.RuneSelf]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;", '`': "&#96;"}

// Size returns about how many bytes of a document a text has.
func Size(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '&' || c == '<' || c == '>' || c == '"' || c == '\'' || c == '`':
			n += 4
		case c < ' ' && c != '\n' && c != '\t' || c == 0x7f:
			n += 28
		}
	}
	return n
}
