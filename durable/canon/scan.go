package canon

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// number delimits and reads one literal by the JSON grammar.
func (p *parser) number(line int32) (Value, error) {
	start := p.pos
	p.take('-')
	if !p.take('0') && p.digits() == 0 {
		return Value{}, p.fail("unexpected %s in a number", p.here())
	}
	if p.take('.') && p.digits() == 0 {
		return Value{}, p.fail("unexpected %s after the decimal point", p.here())
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if p.digits() == 0 {
			return Value{}, p.fail("unexpected %s in an exponent", p.here())
		}
	}
	f, err := parseNumber(p.text[start:p.pos])
	if err != nil {
		return Value{}, p.fail("%s", err)
	}
	p.spelledNumber(p.text[start:p.pos], f)
	return Value{kind: Number, line: line, num: f}, nil
}

// spelledNumber notes a number that JCS writes in another way.
func (p *parser) spelledNumber(lit string, f float64) {
	var err error
	p.scratch, err = AppendNumber(p.scratch[:0], f)
	p.loose = p.loose || err != nil || string(p.scratch) != lit
}

func (p *parser) digits() (n int) {
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos, n = p.pos+1, n+1
	}
	return n
}

// string reads a quoted string; text without escapes is shared, not copied.
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

func (p *parser) escaped(start, i int) (string, error) {
	var b strings.Builder
	b.WriteString(p.text[start:i])
	for p.pos = i; p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.scratch = AppendString(p.scratch[:0], b.String())
			p.loose = p.loose || string(p.scratch) != p.text[start-1:p.pos+1]
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
	r, ok := p.unit()
	if !ok {
		return 0, p.fail("want four hexadecimal digits after \\u")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if low, ok := p.unit(); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.fail("half a surrogate pair in a string")
}

// unit reads one \uXXXX and moves behind it.
func (p *parser) unit() (rune, bool) {
	if p.pos+6 > len(p.text) || p.text[p.pos] != '\\' || p.text[p.pos+1] != 'u' {
		return 0, false
	}
	hex := p.text[p.pos+2 : p.pos+6]
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 6
	return rune(n), true
}
