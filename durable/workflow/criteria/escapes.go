package criteria

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
)

// translation is a pattern in RE2's syntax: \u escapes are rewritten as \x{…}. It is used
// for compiling only; messages and stored values keep the author's pattern.
type translation struct {
	expr string
	from []int // for each byte of expr, and its end: the byte offset in the pattern
}

// translate rewrites a pattern for RE2. An escape that does not encode a character remains,
// and RE2 rejects it.
func translate(pattern string) translation {
	var expr strings.Builder
	var from []int
	for i := 0; i < len(pattern); {
		// unsupportedAt gives the width of \Q…\E and of escapes, which must not be split: a \u
		// after an escaped backslash is not an escape.
		_, width := unsupportedAt(pattern[i:], false)
		if r, length := codePoint(pattern[i:]); length > 0 {
			n, _ := fmt.Fprintf(&expr, `\x{%X}`, r) // writing to a Builder cannot fail
			from = append(from, slices.Repeat([]int{i}, n)...)
			width = length
		} else {
			expr.WriteString(pattern[i : i+width])
			for j := range width {
				from = append(from, i+j)
			}
		}
		i += width
	}
	return translation{expr.String(), append(from, len(pattern))}
}

// codePoint decodes the escape \uXXXX or \u{X…} at the start of text. It returns the
// character and the length of the escape in bytes, 0 if there is no valid escape. A
// surrogate pair is one character. A lone surrogate is not valid: RE2 matches characters
// and would never find it.
func codePoint(text string) (r rune, width int) {
	r, width = codeUnit(text)
	// A high surrogate must be followed by the escape of a low one.
	if width > 0 && utf16.IsSurrogate(r) {
		low, n := codeUnit(text[width:])
		r, width = utf16.DecodeRune(r, low), width+n
		if r == unicode.ReplacementChar {
			return 0, 0
		}
	}
	if width == 0 || !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, width
}

// codeUnitForm matches one escape. Six digits in braces suffice, and a few leading zeros are
// allowed. Without a bound, a pattern of many escapes would take quadratic time.
var codeUnitForm = pattern.New(`^\\u(?:\{([0-9A-Fa-f]{1,31})\}|([0-9A-Fa-f]{4}))`)

// codeUnit decodes one escape, surrogates included. The width is 0 if there is none.
func codeUnit(text string) (r rune, width int) {
	escape := codeUnitForm.FindStringSubmatch(text)
	if escape == nil {
		return 0, 0
	}
	code, err := strconv.ParseUint(escape[1]+escape[2], 16, 31) // codePoint rejects codes above U+10FFFF
	if err != nil {
		return 0, 0
	}
	return rune(code), len(escape[0])
}
