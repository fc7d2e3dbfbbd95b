package criteria

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// spelling is a pattern as RE2 reads it: its \u escapes are written as \x{…}.
// Everything that is shown or stored keeps the author's spelling.
type spelling struct {
	expr string
	from []int // for each byte of expr, and for its end, where it comes from in the pattern
}

// spell translates a pattern. An escape that names no character stays, and is
// refused by RE2.
func spell(pattern string) spelling {
	var expr strings.Builder
	var from []int
	for i := 0; i < len(pattern); {
		_, width := foreignAt(pattern[i:], false)
		if r, length := codePoint(pattern[i:]); length > 0 {
			n, _ := fmt.Fprintf(&expr, `\x{%X}`, r) // a builder takes everything
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
	return spelling{expr.String(), append(from, len(pattern))}
}

// codePoint is the character that \uXXXX or \u{X…} at the start of a text names,
// and the length of the escape; 0 when there is none. Two halves of a pair are one
// character. A half alone is none: RE2 matches characters, and would never find it.
func codePoint(text string) (r rune, width int) {
	r, width = codeUnit(text)
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

// bracedMax bounds what is looked through for the end of \u{X…}, of which there may
// be many: six digits say everything, a few more may be zeros.
const bracedMax = 32

// codeUnit is one escape by itself, whatever its code.
func codeUnit(text string) (r rune, width int) {
	rest, ok := strings.CutPrefix(text, `\u`)
	if !ok {
		return 0, 0
	}
	digits, width := "", 6
	if inner, braced := strings.CutPrefix(rest, "{"); braced {
		end := strings.IndexByte(inner[:min(len(inner), bracedMax)], '}')
		if end < 0 {
			return 0, 0
		}
		digits, width = inner[:end], len(`\u{}`)+end
	} else if len(rest) >= 4 {
		digits = rest[:4]
	}
	code, err := strconv.ParseUint(digits, 16, 31) // what is too much for a character is refused above
	if err != nil {
		return 0, 0
	}
	return rune(code), width
}
