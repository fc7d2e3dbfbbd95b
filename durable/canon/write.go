package canon

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString writes s as a JSON string in the one spelling of RFC 8785: only
// quote, backslash and control characters are escaped, in their shortest form.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// appendText refuses what no reader would take back.
func appendText(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, errors.New("canon: text is not valid UTF-8")
	}
	return AppendString(dst, s), nil
}

// AppendJCS writes v as RFC 8785 bytes. It fails on NaN, infinities and text that
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

// JCS is v as RFC 8785 bytes. A value built from NaN, an infinity or invalid text
// has none: that is a bug of ours and panics.
func (v Value) JCS() []byte {
	b, err := v.AppendJCS(nil)
	if err != nil {
		panic("canon: " + err.Error())
	}
	return b
}

// Canonicalize is strict JSON text in any spelling, in its one spelling.
func Canonicalize(data []byte) ([]byte, error) {
	v, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return v.AppendJCS(nil)
}

// MarshalJSON lets a Value stand inside documents that encoding/json writes.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJCS(nil) }

// UnmarshalJSON reads as strictly as Parse.
func (v *Value) UnmarshalJSON(b []byte) (err error) {
	*v, err = Parse(b)
	return err
}
