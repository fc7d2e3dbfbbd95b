// Package invisible knows the characters that a terminal executes, hides or uses to reorder text instead of showing
// them, and escapes them in JSON documents (docs/design.md#printed-bytes). It does not clean text for people: package
// page does.
package invisible

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/sorting"
)

// Is reports a character of general category Cc, Cf, Zl or Zp, or with the property Default_Ignorable_Code_Point:
// controls, bidirectional formatting, zero-width characters, tags, variation selectors, fillers, line and paragraph
// separators. Line feed and tab are among them.
func Is(r rune) bool {
	all := ranges()
	if 0 <= r && r < tableEnd {
		return all.low[r/64]&(1<<(r%64)) != 0
	}
	_, found := slices.BinarySearchFunc(all.high, r, func(in span, r rune) int {
		switch {
		case in.last < r:
			return -1
		case in.first > r:
			return 1
		}
		return 0
	})
	return found
}

const (
	del = 0x7f
	// tableEnd is the end of the characters that are looked up in a table of bits.
	tableEnd = 0x10000
)

// span is a range of characters, both ends included.
type span struct{ first, last rune }

// set is a set of characters: a bit for each below tableEnd, and sorted spans above.
type set struct {
	low  [tableEnd / 64]uint64
	high []span
}

// tables are the general categories, and the properties that Default_Ignorable_Code_Point is derived from. Unicode
// derives it from Other_Default_Ignorable_Code_Point, Cf and Variation_Selector, less a few characters, each of which is
// of category Cf and so among these anyway.
var tables = []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}

// ranges are the characters of tables.
var ranges = sync.OnceValue(func() *set {
	out := &set{}
	add := func(first, last, stride rune) {
		for r := first; r <= min(last, tableEnd-1); r += stride {
			out.low[r/64] |= 1 << (r % 64)
		}
		if last >= tableEnd {
			out.high = append(out.high, span{first, last})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			for at := r.Lo; r.Stride > 1 && at <= r.Hi; at += r.Stride {
				add(rune(at), rune(at), 1)
			}
			if r.Stride == 1 {
				add(rune(r.Lo), rune(r.Hi), 1)
			}
		}
	}
	sorting.By(out.high, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	return out
})

// EscapeJSON returns JSON text with the characters of Is as \u escapes, those above U+FFFF as surrogate pairs. The value
// is the same. White space between tokens stays: line ends and tabs are no valid JSON in a string. Other text is made
// harmless as well: other controls are escaped, and bytes that are not UTF-8 become the escape of U+FFFD.
//
// Text without such characters is returned as it is, without a copy.
func EscapeJSON(text []byte) []byte {
	at := next(text, 0)
	if at == len(text) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8+16)
	for from := 0; ; at = next(text, from) {
		out = append(out, text[from:at]...)
		if at == len(text) {
			return out
		}
		r, size := utf8.DecodeRune(text[at:])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = appendEscape(appendEscape(out, high), low)
		} else {
			out = appendEscape(out, r)
		}
		from = at + size
	}
}

// next returns the place of the first character from at on that is escaped, or the end of the text.
func next(text []byte, at int) int {
	for at < len(text) {
		if rest := text[at:]; len(rest) >= 8 && isPrintable(binary.LittleEndian.Uint64(rest)) {
			at += 8
			continue
		}
		switch c := text[at]; {
		case ' ' <= c && c < del, c == '\n', c == '\t', c == '\r':
			at++
		case c < utf8.RuneSelf:
			return at
		default:
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 || Is(r) {
				return at
			}
			at += size
		}
	}
	return at
}

// isPrintable reports that each of eight bytes is a space or a visible character of ASCII. A sum sets the highest bit of
// each byte that is large enough, and carries nothing to the next one unless a highest bit was set.
func isPrintable(eight uint64) bool {
	const one, high = 0x0101010101010101, 0x8080808080808080
	return (eight|(eight+one*(0x80-del)))&high == 0 && (eight+one*(0x80-' '))&high == high
}

// appendEscape appends a character below U+10000 as \uxxxx.
func appendEscape(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&0xf], digits[r>>8&0xf], digits[r>>4&0xf], digits[r&0xf])
}

// Writer writes JSON text as EscapeJSON returns it. Flush writes what is left of text that does not end with a whole
// character.
type Writer struct {
	to   io.Writer
	rest []byte // the beginning of a character
}

// NewWriter returns a Writer to a stream.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.rest, p...)
	end := len(text)
	for n := 1; n < utf8.UTFMax && n <= end; n++ {
		if tail := text[end-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				end -= n
			}
			break
		}
	}
	w.rest = bytes.Clone(text[end:])
	if _, err := w.to.Write(EscapeJSON(text[:end])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the rest.
func (w *Writer) Flush() error {
	_, err := w.to.Write(EscapeJSON(w.rest))
	w.rest = nil
	return err
}

// Shapes reports characters without a form of their own that scripts and emoji are written with, and that a terminal or
// a page shows as nothing or not in the same way: joiners, invisible spaces and hyphens, variation selectors, and the
// marks of direction of a single place. Without them the text reads the same. Characters that reorder what follows, such
// as overrides, are none of them.
func Shapes(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r >= 0x180b && r <= 0x180f,
		unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return r == 0xad || r == 0x34f || r == 0x61c || r == 0xfeff
}

// ShapingMax is how many characters of Shapes may follow each other: more are no writing, but may be hidden text.
const ShapingMax = 3
