// Package view shows a text as a reader sees it: without what a terminal hides, with its escapes read, or
// percent-decoded, and states where each byte of it is in the source.
//
// The entry points are Shown and Percent. Start reading at View.
package view

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/byteset"
)

// View is a text as a reader sees it, and where each byte of it is in the source. Secrets are
// recognized in the view and replaced in the source, so that a replacement covers the color
// sequences, invisible characters and escapes inside a secret.
type View struct {
	Text     string // the source
	Shown    string // the source itself where nothing was removed or decoded
	segments []segment
}

// Of returns the view of a text that is the text itself.
func Of(s string) *View { return &View{Text: s, Shown: s} }

// segment begins at an offset of the view, and is a copy of the source from another offset. Its
// first byte was decoded from width bytes of the source, where width is not 1.
type segment struct{ at, from, width int }

// find returns the segment of a byte of the view, nil where the view is the source.
func (v *View) find(at int) *segment {
	n := sort.Search(len(v.segments), func(i int) bool { return v.segments[i].at > at })
	if n == 0 {
		return nil
	}
	return &v.segments[n-1]
}

// Begin returns where the byte at an offset of the view begins in the source.
func (v *View) Begin(at int) int {
	switch s := v.find(at); {
	case s == nil:
		return at
	case at == s.at:
		return s.from
	default:
		return s.from + s.width + at - s.at - 1
	}
}

// End returns where the source of the bytes before an offset of the view ends.
func (v *View) End(to int) int {
	switch s := v.find(to - 1); {
	case s == nil:
		return to
	default:
		return s.from + s.width + to - s.at - 1
	}
}

// DecodedAt reports that the byte at an offset of the view was written as an escape.
func (v *View) DecodedAt(at int) bool {
	s := v.find(at)
	return s != nil && s.at == at && s.width > 1
}

// builder builds a view from left to right.
type builder struct {
	View
	out    []byte
	copied int // the source before it is in out, or removed
}

// copy appends the source up to an offset.
func (b *builder) copy(to int) {
	if to > b.copied {
		if b.copied > 0 {
			b.segments = append(b.segments, segment{at: len(b.out), from: b.copied, width: 1})
		}
		b.out = append(b.out, b.Text[b.copied:to]...)
		b.copied = to
	}
}

// skip removes the source between two offsets.
func (b *builder) skip(from, to int) {
	b.copy(from)
	b.copied = to
}

// decode appends a byte for the source between two offsets.
func (b *builder) decode(from, to int, as byte) {
	b.copy(from)
	b.segments = append(b.segments, segment{at: len(b.out), from: from, width: to - from})
	b.out = append(b.out, as)
	b.copied = to
}

// done returns the view.
func (b *builder) done() View {
	if b.copied == 0 {
		return View{Text: b.Text, Shown: b.Text}
	}
	b.copy(len(b.Text))
	b.Shown = string(b.out)
	return b.View
}

// Sequences that a terminal does not show, and escapes of them in JSON and in source files.
var (
	// colors matches a control sequence, such as one that sets a color.
	colors = pattern.New("^(?:\x1b\\[|\u009b)[0-9:;<=>?]{0,32}[ -/]{0,2}[@-~]")
	// writtenColors matches the same as escaped text.
	writtenColors = pattern.New(`^\\+(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,32}[mKGH]`)
	// unicodeEscape matches the escape of a character, also inside a text that was escaped twice.
	unicodeEscape = pattern.New(`^\\{1,4}(?:u00([2-7][0-9a-fA-F])|x([2-7][0-9a-fA-F])|u(?i:200[b-f]|202[a-e]|206[0-9a-f]|feff|00ad|180e|034f))`)
	// entity matches a character reference of HTML by its number, which is that of an ASCII character.
	entity = pattern.New(`^&#0{0,4}(?:([3-9][0-9]|1[0-2][0-9])|[xX]0{0,4}([2-7][0-9a-fA-F]));`)
)

// escapeMax bounds how much of the text one of these patterns reads.
const escapeMax = 48

// invisible lists the characters that take no space: soft hyphen, grapheme joiner, Arabic letter
// mark, Mongolian vowel separator, zero-width and directional characters, and variation selectors.
const invisible = "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e" +
	"\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"

// spaces lists the characters that are read as a space: those at which a line does not break.
const spaces = "\u00a0\u2007\u202f"

// invisibleStart is the class of the first bytes of such characters.
var invisibleStart = func() *byteset.Set {
	var c byteset.Set
	for _, r := range invisible + spaces {
		c[string(r)[0]] = true
	}
	return &c
}()

// plainEscape is the class of the bytes that are decoded: those that structure a text, such as
// quotes and brackets, keep their escapes.
var plainEscape = byteset.Of(byteset.Letters + byteset.Digits + "_-.:/+=@&~%$!,;#*|")

// hidesSomething reports whether a text has any sequence that Shown removes or decodes.
func hidesSomething(s string) bool {
	if strings.IndexByte(s, 0x1b) >= 0 || strings.Contains(s, `\u`) || strings.Contains(s, `\x`) ||
		strings.Contains(s, "&#") ||
		strings.Contains(s, `\e[`) || strings.Contains(s, `\033[`) {
		return true
	}
	for _, lead := range []string{"\xc2", "\xcd", "\xd8", "\xe1\xa0", "\xe2\x80", "\xe2\x81", "\xef"} {
		if strings.Contains(s, lead) {
			return true
		}
	}
	return false
}

// Shown returns the view of a text without what a reader does not see, and with its Unicode
// escapes read.
func Shown(s string) View {
	if !hidesSomething(s) {
		return View{Text: s, Shown: s}
	}
	b := builder{View: View{Text: s}}
	for i := 0; i < len(s); {
		byteset.CountReads(1)
		switch c := s[i]; {
		case c == 0x1b || c == '\\':
			i = b.escape(i)
		case c == '&':
			i = b.entity(i)
		case c >= 0x80 && invisibleStart[c]:
			i = b.character(i)
		default:
			i++
		}
	}
	return b.done()
}

// escape handles the escape or backslash at i, and returns the offset behind it.
func (b *builder) escape(i int) int {
	near := b.Text[i:min(len(b.Text), i+escapeMax)]
	byteset.CountReads(2)
	if near[0] == 0x1b {
		n := len(colors.FindString(near))
		b.skipIf(i, n)
		return i + max(1, n)
	}
	if len(near) < 3 || strings.IndexByte(`\uxe0`, near[1]) < 0 {
		return i + 1
	}
	if n := len(writtenColors.FindString(near)); n > 0 {
		b.skip(i, i+n)
		return i + n
	}
	m := unicodeEscape.FindStringSubmatch(near)
	if m == nil {
		return i + max(1, byteset.Span(near, 0, backslash)) // one pattern for a run of backslashes
	}
	if code, err := strconv.ParseUint(m[1]+m[2], 16, 8); m[1]+m[2] == "" {
		b.skip(i, i+len(m[0]))
	} else if err == nil && plainEscape[byte(code)] {
		b.decode(i, i+len(m[0]), byte(code))
	}
	return i + len(m[0])
}

// entity handles the ampersand at i, and returns the offset behind the reference that it begins.
func (b *builder) entity(i int) int {
	m := entity.FindStringSubmatch(b.Text[i:min(len(b.Text), i+escapeMax)])
	byteset.CountReads(2)
	if m == nil {
		return i + 1
	}
	code, err := strconv.ParseUint(m[1], 10, 8)
	if m[1] == "" {
		code, err = strconv.ParseUint(m[2], 16, 8)
	}
	if err == nil && plainEscape[byte(code)] {
		b.decode(i, i+len(m[0]), byte(code))
	}
	return i + len(m[0])
}

var backslash = byteset.Of(`\`)

// skipIf removes n bytes at i, if any.
func (b *builder) skipIf(i, n int) {
	if n > 0 {
		b.skip(i, i+n)
	}
}

// character handles the character at i, and returns the offset behind it.
func (b *builder) character(i int) int {
	near := b.Text[i:min(len(b.Text), i+escapeMax)]
	r, n := utf8.DecodeRuneInString(near)
	if strings.ContainsRune(invisible, r) {
		b.skip(i, i+n)
	} else if strings.ContainsRune(spaces, r) {
		b.decode(i, i+n, ' ')
	} else if r == '\u009b' { // the same as ESC [
		n = max(n, len(colors.FindString(near)))
		b.skip(i, i+n)
	}
	return i + n
}

// Percent returns the view of a text with its percent-encoded ASCII characters decoded once. ok
// is false where it has none.
func Percent(s string) (v View, ok bool) {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return View{}, false
	}
	b := builder{View: View{Text: s}}
	for i < len(s)-2 {
		n := strings.IndexByte(s[i:len(s)-2], '%')
		if n < 0 {
			break
		}
		byteset.CountReads(n + 3)
		i += n
		code, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || code >= 0x7f || code < ' ' && code != '\n' && code != '\r' && code != '\t' {
			i++
			continue
		}
		b.decode(i, i+3, byte(code))
		i += 3
	}
	return b.done(), b.copied > 0
}
