package bundle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// Patterns of eight equal bytes, for examining eight characters at once.
const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	spaces = 0x20 * ones
	quotes = '"' * ones
	slants = '\\' * ones
)

// quoted examines the string that starts at i; end is the index after its closing quote.
// plain reports a string of ASCII without escapes.
func (s *jcsChecker) quoted(i int) (end int, plain bool, o outcome) {
	b := s.b
	plain, wide := true, false
	for j := i + 1; j < len(b); {
		if j+8 <= len(b) {
			// Eight bytes at once: the lowest byte marked in m is a control character, a
			// quote, a backslash or not ASCII. Marks above it may be false.
			x := binary.LittleEndian.Uint64(b[j:])
			m := ((x - spaces) | ((x ^ quotes) - ones) | ((x ^ slants) - ones) | x) & highs
			if m == 0 {
				j += 8
				continue
			}
			j += bits.TrailingZeros64(m) >> 3
		}
		switch c := b[j]; {
		case c == '"':
			// Invalid UTF-8 is not JSON. Checked once per string, and only if it has any byte
			// beyond ASCII.
			if wide && !utf8.Valid(b[i+1:j]) {
				return j, false, other
			}
			return j + 1, plain && !wide, exact
		case c == '\\':
			plain = false
			n, o := escape(b[j:])
			if o != exact {
				return j, false, o
			}
			j += n
		case c < ' ':
			return j, false, other
		default:
			wide = wide || c >= utf8.RuneSelf
			j++
		}
	}
	return len(b), false, short
}

// escape accepts exactly the escapes that canonical JSON uses, each in its only form.
func escape(b []byte) (n int, o outcome) {
	// The buffer ends inside the escape.
	if len(b) < 2 {
		return 0, short
	}
	switch b[1] {
	// The short escapes of canonical JSON; it writes / unescaped.
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2, exact
	case 'u':
	default:
		return 0, other
	}
	if len(b) < 6 {
		return 0, short
	}
	low := bytes.IndexByte([]byte("0123456789abcdef"), b[5])
	// Only control characters are written as \u00XX, in lower case hex.
	if b[2] != '0' || b[3] != '0' || b[4] != '0' && b[4] != '1' || low < 0 {
		return 0, other
	}
	// These have short escapes.
	if c := (b[4]-'0')<<4 | byte(low); c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t' {
		return 0, other
	}
	return 6, exact
}

// word examines one of the literals true, false and null.
func (s *jcsChecker) word(i int, word string) (int, outcome) {
	have := s.b[i:min(len(s.b), i+len(word))]
	switch {
	case string(have) == word:
		return i + len(word), exact
	case string(have) == word[:len(have)]:
		return i, short
	}
	return i, other
}

// wholeDigitsMax is the number of digits up to which every integer is exact as a double.
const wholeDigitsMax = 15

// number examines a number: it is exact if canonical JSON writes its value in the same way.
func (s *jcsChecker) number(i int) (int, outcome) {
	end, whole := i, true
	for end < len(s.b) {
		c := s.b[end]
		// c == 'e' || A sign inside belongs to an exponent.
		if c == '.' || c == 'e' || c == '+' || c == '-' && end > i {
			whole = false
		} else if (c < '0' || c > '9') && c != '-' {
			break
		}
		end++
	}
	if end == len(s.b) {
		return end, short // more digits may follow
	}
	digits := s.b[i:end]
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return end, other
	}
	// Nearly all numbers: indexes, times and lengths.
	if whole && len(digits) <= wholeDigitsMax {
		if digits[0] == '0' && end-i > 1 {
			return end, other // 007 or -0
		}
		return end, exact
	}
	var buffer [64]byte
	f, err := strconv.ParseFloat(string(s.b[i:end]), 64)
	if err != nil {
		return end, other
	}
	// A number that canon writes identically is exact.
	again, err := canon.AppendNumber(buffer[:0], f)
	if err != nil || !bytes.Equal(again, s.b[i:end]) {
		return end, other
	}
	return end, exact
}
