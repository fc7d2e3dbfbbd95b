package canon

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// number parses one number literal by the grammar of RFC 8259, section 6. Its errors name the
// first character that does not fit.
func (p *parser) number(line int32) (Value, error) {
	start := p.pos
	p.accept('-')
	if !p.accept('0') && p.skipDigits() == 0 {
		return Value{}, p.fail("unexpected %s in a number", p.currentChar())
	}
	if p.accept('.') && p.skipDigits() == 0 {
		return Value{}, p.fail("unexpected %s after the decimal point", p.currentChar())
	}
	if p.accept('e') || p.accept('E') {
		if !p.accept('+') {
			p.accept('-')
		}
		if p.skipDigits() == 0 {
			return Value{}, p.fail("unexpected %s in an exponent", p.currentChar())
		}
	}
	f, err := parseNumber(p.text[start:p.pos])
	if err != nil {
		return Value{}, p.fail("%s", err)
	}
	p.checkNumberSpelling(p.text[start:p.pos], f)
	return Value{kind: Number, line: line, num: f}, nil
}

// checkNumberSpelling sets nonCanonical if JCS writes the number f in another way than lit.
func (p *parser) checkNumberSpelling(lit string, f float64) {
	var err error
	p.scratch, err = AppendNumber(p.scratch[:0], f)
	p.nonCanonical = p.nonCanonical || err != nil || string(p.scratch) != lit
}

// skipDigits consumes decimal digits and returns how many.
func (p *parser) skipDigits() (n int) {
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos, n = p.pos+1, n+1
	}
	return n
}

// string parses a quoted string. A string without escapes shares memory with the text.
func (p *parser) string() (string, error) {
	p.pos++
	start := p.pos
	for i := start; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.pos = i + 1
			return p.text[start:i], nil
		case c == '\\':
			return p.escaped(start, i)
		case c < ' ':
			p.pos = i
			return "", p.fail("unescaped control character %U in a string", c)
		}
	}
	p.pos = len(p.text)
	return "", p.fail("string without an end")
}

// escaped parses a string with escapes. start is the offset behind the quote, i that of the
// first backslash.
func (p *parser) escaped(start, i int) (string, error) {
	var b strings.Builder
	b.WriteString(p.text[start:i])
	for p.pos = i; p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '"':
			// The encoder decides which escapes are canonical: compare with what it writes.
			p.scratch = AppendString(p.scratch[:0], b.String())
			p.nonCanonical = p.nonCanonical || string(p.scratch) != p.text[start-1:p.pos+1]
			p.pos++
			return b.String(), nil
		case c < ' ':
			return "", p.fail("unescaped control character %U in a string", c)
		case c != '\\':
			b.WriteByte(c)
			p.pos++
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		}
	}
	return "", p.fail("string without an end")
}

// escape parses one escape sequence. A \u escape of half a surrogate pair is refused: it has no
// UTF-8 form, and other parsers replace it silently.
func (p *parser) escape() (rune, error) {
	if p.pos+1 >= len(p.text) {
		return 0, p.fail("string without an end")
	}
	c := p.text[p.pos+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		p.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		r, _ := utf8.DecodeRuneInString(p.text[p.pos+1:])
		return 0, p.fail("unknown escape \\%c in a string", r)
	}
	r, ok := p.hexUnit()
	if !ok {
		return 0, p.fail("want four hexadecimal digits after \\u")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	// A high surrogate must be followed by the escape of a low one.
	if low, ok := p.hexUnit(); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.fail("half a surrogate pair in a string")
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
