package canon

import "strconv"

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

// AppendJCS writes v as RFC 8785 bytes.
func (v Value) AppendJCS(dst []byte) ([]byte, error) {
	switch v.kind {
	case Null:
		return append(dst, "null"...), nil
	case Bool:
		return strconv.AppendBool(dst, v.num == 1), nil
	case Number:
		return AppendNumber(dst, v.num)
	case String:
		return AppendString(dst, v.str), nil
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
			dst = append(AppendString(dst, v.keys[i]), ':')
		}
		if dst, err = item.AppendJCS(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, shut), nil
}

// JCS is v as RFC 8785 bytes. A value built from NaN or an infinity has none:
// that is a bug of ours and panics.
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
