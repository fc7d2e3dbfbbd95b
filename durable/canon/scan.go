package canon

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// number parses one number literal by the grammar of RFC 8259, section 6. Its errors name the
// first character that does not fit.
func (p *parser) number() float64 {
	start := p.pos
	p.accept('-')
	if !p.accept('0') && p.skipDigits() == 0 {
		p.fail("unexpected %s in a number", p.currentChar())
	}
	if p.accept('.') && p.skipDigits() == 0 {
		p.fail("unexpected %s after the decimal point", p.currentChar())
	}
	if p.accept('e') || p.accept('E') {
		if !p.accept('+') {
			p.accept('-')
		}
		if p.skipDigits() == 0 {
			p.fail("unexpected %s in an exponent", p.currentChar())
		}
	}
	if p.err != nil {
		return 0
	}
	f, canonical, err := parseNumber(p.text[start:p.pos])
	if err != nil {
		p.fail("%s", err)
	}
	p.ended = p.checker != nil && p.pos == len(p.text) // more digits may follow
	if !canonical || p.ended {
		p.respelled()
	}
	return f
}

// skipDigits consumes decimal digits and returns how many.
func (p *parser) skipDigits() (n int) {
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos, n = p.pos+1, n+1
	}
	return n
}

// string parses a quoted string. A string without escapes shares memory with the text.
func (p *parser) string() string {
	start := p.pos
	end, plain, o := stringEnd(p.text, start)
	switch {
	case p.exact && o != Canonical:
		p.ended = o == Short
		p.respelled()
		return ""
	case plain && o == Canonical || p.checker != nil:
		p.pos = end
		return p.text[start+1 : end-1]
	}
	return p.escaped()
}

// escaped parses a string with escapes, or one that is not valid.
func (p *parser) escaped() string {
	var b strings.Builder
	b.Grow(escapedBytes(p.text[p.pos:]))
	for p.pos++; p.pos < len(p.text) && p.err == nil; {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return b.String()
		case c < ' ':
			p.fail("unescaped control character %U in a string", c)
		case c != '\\':
			start := p.pos
			for p.pos < len(p.text) && p.text[p.pos] != '"' && p.text[p.pos] != '\\' && p.text[p.pos] >= ' ' {
				p.pos++
			}
			b.WriteString(p.text[start:p.pos])
		default:
			b.WriteRune(p.escape())
		}
	}
	p.fail("string without an end")
	return ""
}

// escapedBytes bounds the length of a string with escapes by its closing quote, without knowing which quotes are escaped.
func escapedBytes(text string) int {
	n := 1
	for n < len(text) && (text[n] != '"' || text[n-1] == '\\') {
		n++
	}
	return n
}

// escape parses one escape sequence. A \u escape of half a surrogate pair is refused: it has no
// UTF-8 form, and other parsers replace it silently.
func (p *parser) escape() rune {
	if p.pos+1 >= len(p.text) {
		p.fail("string without an end")
		return 0
	}
	c := p.text[p.pos+1]
	if i := strings.IndexByte(escapeLetters+"/", c); i >= 0 {
		p.pos += 2
		return rune((escapedChars + "/")[i])
	}
	if c != 'u' {
		r, _ := utf8.DecodeRuneInString(p.text[p.pos+1:])
		p.fail("unknown escape \\%c in a string", r)
		return 0
	}
	r, ok := p.hexUnit()
	if !ok {
		p.fail("want four hexadecimal digits after \\u")
	}
	if !utf16.IsSurrogate(r) {
		return r
	}
	// A high surrogate must be followed by the escape of a low one.
	low, _ := p.hexUnit()
	pair := utf16.DecodeRune(r, low)
	if pair == utf8.RuneError {
		p.fail("half a surrogate pair in a string")
	}
	return pair
}

// hexUnit consumes one \uXXXX and returns its UTF-16 code unit.
func (p *parser) hexUnit() (rune, bool) {
	if p.pos+6 > len(p.text) || p.text[p.pos] != '\\' || p.text[p.pos+1] != 'u' {
		return 0, false
	}
	// 16 bits, and ParseUint accepts no sign: exactly four hexadecimal digits.
	hex := p.text[p.pos+2 : p.pos+6]
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 6
	return rune(n), true
}

// Patterns of eight equal bytes, for examining eight characters at once.
const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	spaces = 0x20 * ones
	quotes = '"' * ones
	slants = '\\' * ones
)

// stringEnd examines the string whose opening quote is at start; end is the offset behind its
// closing quote. plain reports a string without escapes. Every reader of strings begins here: the
// few that are not plain are read once more.
func stringEnd(s string, start int) (end int, plain bool, o Outcome) {
	plain, wide := true, false
	for i := start + 1; i < len(s); {
		if i+8 <= len(s) {
			// Of eight bytes at once, the lowest one that is marked in m is a control character, a
			// quote, a backslash or not ASCII. Marks above it may be false.
			x := eight(s[i : i+8])
			m := ((x - spaces) | ((x ^ quotes) - ones) | ((x ^ slants) - ones) | x) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch c := s[i]; {
		case c == '"':
			// Invalid UTF-8 is not JSON. Checked once, and only beyond ASCII.
			if wide && !utf8.ValidString(s[start:i]) {
				return i, false, Other
			}
			return i + 1, plain, Canonical
		case c == '\\':
			n, o := escapeEnd(s[i:])
			if o != Canonical {
				return i, false, o
			}
			plain = false
			i += n
		case c < ' ':
			return i, false, Other
		default:
			wide = wide || c >= utf8.RuneSelf
			i++
		}
	}
	return len(s), false, Short
}

// eight returns eight bytes as a little-endian number, which compiles to one load.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// escapeEnd returns the length of the escape at the start of s if it is Canonical: one that
// AppendString writes.
func escapeEnd(s string) (n int, o Outcome) {
	switch {
	case len(s) < 2:
		return 0, Short
	case strings.IndexByte(escapeLetters, s[1]) >= 0:
		return 2, Canonical
	case s[1] != 'u':
		return 0, Other
	case len(s) < 6:
		return 0, Short
	}
	// The control characters without a short escape.
	c, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil || string(AppendString(nil, string(rune(c)))) != `"`+s[:6]+`"` {
		return 0, Other
	}
	return 6, Canonical
}

// CountValues returns how many values a JSON text holds, at most, without parsing it: every value
// but the first follows a comma or a bracket. It bounds the memory that parsing would take.
func CountValues(data []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++ // the escaped character; outside of a string the text is not JSON
		case ',', '[', '{':
			if !quoted {
				n++
			}
		}
	}
	return n
}
