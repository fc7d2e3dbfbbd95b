package bundle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	spaces = 0x20 * ones
	quotes = '"' * ones
	slants = '\\' * ones
)

// quoted reads the string whose quote stands at i; end is behind its closing quote.
// plain says that its bytes are ASCII and stand for themselves.
func (s *spelling) quoted(i int) (end int, plain bool, o outcome) {
	b := s.b
	plain, wide := true, false
	for j := i + 1; j < len(b); {
		if j+8 <= len(b) {
			// Eight bytes at once: the lowest marked one is a control character, a quote,
			// a backslash or beyond ASCII. Marks above it may be wrong.
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

// escape accepts the escapes that JCS writes, and of each only its one form.
func escape(b []byte) (n int, o outcome) {
	if len(b) < 2 {
		return 0, short
	}
	switch b[1] {
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
	if b[2] != '0' || b[3] != '0' || b[4] != '0' && b[4] != '1' || low < 0 {
		return 0, other
	}
	if c := (b[4]-'0')<<4 | byte(low); c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t' {
		return 0, other
	}
	return 6, exact
}

func (s *spelling) word(i int, word string) (int, outcome) {
	have := s.b[i:min(len(s.b), i+len(word))]
	switch {
	case string(have) == word:
		return i + len(word), exact
	case string(have) == word[:len(have)]:
		return i, short
	}
	return i, other
}

// wholeDigitsMax is up to how many digits every integer is exactly a double.
const wholeDigitsMax = 15

func (s *spelling) number(i int) (int, outcome) {
	end, whole := i, true
	for end < len(s.b) {
		c := s.b[end]
		if c == '.' || c == 'e' || c == '+' || c == '-' && end > i {
			whole = false
		} else if (c < '0' || c > '9') && c != '-' {
			break
		}
		end++
	}
	if end == len(s.b) {
		return end, short // it might go on
	}
	digits := s.b[i:end]
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return end, other
	}
	if whole && len(digits) <= wholeDigitsMax {
		if digits[0] == '0' && end-i > 1 {
			return end, other // 007 and -0
		}
		return end, exact
	}
	var room [64]byte
	f, err := strconv.ParseFloat(string(s.b[i:end]), 64)
	if err != nil {
		return end, other
	}
	// What spells itself has the digits of its double, so it is exact as R5 wants.
	again, err := canon.AppendNumber(room[:0], f)
	if err != nil || !bytes.Equal(again, s.b[i:end]) {
		return end, other
	}
	return end, exact
}
