package canon

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// The characters with a short escape, and the letters of their escapes.
const (
	escapedChars  = "\"\\\b\f\n\r\t"
	escapeLetters = `"\bfnrt`
)

// AppendString appends s as a JSON string in the form of RFC 8785, section 3.2.2.2: only quote,
// backslash and control characters are escaped, in their shortest form. s must be valid UTF-8;
// appendText checks it.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of the text that is not appended yet; runs without escapes are copied at once
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if k := strings.IndexByte(escapedChars, c); k >= 0 {
			dst = append(dst, '\\', escapeLetters[k])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// appendText is AppendString with an error for invalid UTF-8, which Parse would refuse to read.
func appendText(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, errors.New("canon: text is not valid UTF-8")
	}
	return AppendString(dst, s), nil
}

// AppendJCS appends v as RFC 8785 bytes. It returns an error for NaN, infinities and text that
// is not valid UTF-8, which only a Value that was built can hold.
func (v Value) AppendJCS(dst []byte) ([]byte, error) {
	switch v.kind {
	case Null:
		return append(dst, "null"...), nil
	case Bool:
		return strconv.AppendBool(dst, v.num == 1), nil
	case Number:
		return AppendNumber(dst, v.num)
	case String:
		return appendText(dst, v.str)
	}
	open, shut := byte('['), byte(']')
	if v.kind == Object {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	var err error
	for i, item := range v.list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.kind == Object {
			if dst, err = appendText(dst, v.keys[i]); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
		}
		if dst, err = item.AppendJCS(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, shut), nil
}

// JCS returns v as RFC 8785 bytes. It panics for a Value that was built from NaN, an infinity
// or invalid text, which is a bug of the caller; use AppendJCS for values of unknown origin.
func (v Value) JCS() []byte {
	b, err := v.AppendJCS(nil)
	if err != nil {
		panic("canon: " + err.Error())
	}
	return b
}

// Canonicalize returns the RFC 8785 bytes of a strict JSON text. Its errors are those of Parse.
func Canonicalize(data []byte) ([]byte, error) {
	v, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return v.AppendJCS(nil)
}

// MarshalJSON makes a Value usable inside documents that encoding/json writes.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJCS(nil) }

// UnmarshalJSON parses b with the rules and errors of Parse.
func (v *Value) UnmarshalJSON(b []byte) (err error) {
	*v, err = Parse(b)
	return err
}
