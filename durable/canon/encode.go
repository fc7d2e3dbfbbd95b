package canon

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Marshal encodes x as RFC 8785 bytes. It returns an error for a zero id or digest, a string
// that is not valid UTF-8, NaN, an infinity and an integer beyond 2^53. The error names the
// struct members that lead to the value. x is made of the types that are listed at field.
//
// The result has these properties, which digests of documents rely on:
//   - members are in the order of their UTF-16 code units, without whitespace between tokens;
//   - strings have only the escapes that JSON requires;
//   - numbers are in ECMAScript's shortest form; identifiers beyond 2^53 have to be strings;
//   - optional members with a zero value are absent; nil slices and maps of required members
//     are [] and {}.
//
//go:noinline
func Marshal(x any) ([]byte, error) { return Append(nil, x) }

// Append appends the bytes of Marshal to dst. On an error the returned slice ends in an
// incomplete document; the caller discards it.
func Append(dst []byte, x any) ([]byte, error) {
	if x == nil {
		return append(dst, "null"...), nil
	}
	v := reflect.ValueOf(x)
	return planOf(v.Type()).append(dst, v)
}

// ValueOf returns x as a Value, by encoding and parsing it. It fails where Marshal or Parse
// fails, which includes map keys that differ only in case.
func ValueOf(x any) (Value, error) {
	b, err := Marshal(x)
	if err != nil {
		return Value{}, err
	}
	return Parse(b)
}

// append appends one value of the type.
func (p *plan) append(dst []byte, v reflect.Value) ([]byte, error) {
	switch p.form {
	case formValue:
		return v.Interface().(Value).AppendJCS(dst)
	case formText:
		return appendCanonicalText(dst, v.Interface().(encoding.TextMarshaler))
	case formString:
		return appendText(dst, v.String())
	case formBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case formInt:
		// A larger integer would be another number for a reader that uses doubles.
		if n := v.Int(); n > maxInteger || n < -maxInteger {
			return dst, errInexact
		}
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case formFloat:
		return AppendNumber(dst, v.Float())
	case formPointer, formInterface:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		if v = v.Elem(); p.form == formInterface {
			return planOf(v.Type()).append(dst, v)
		}
		return p.elem.append(dst, v)
	case formList:
		return p.appendList(dst, v)
	case formMap:
		return p.appendMap(dst, v)
	case formStruct:
		return p.appendStruct(dst, v)
	}
	panic("canon: cannot write a " + p.typ.String())
}

// appendCanonicalText appends an id or a digest, whose texts have no characters to escape, or another text.
func appendCanonicalText(dst []byte, x encoding.TextMarshaler) ([]byte, error) {
	if own, ok := x.(encoding.TextAppender); ok {
		dst, err := own.AppendText(append(dst, '"'))
		return append(dst, '"'), err
	}
	text, err := x.MarshalText()
	if err != nil {
		return dst, err
	}
	return AppendString(dst, string(text)), nil
}

// listBytesMax is the memory that is reserved for a list at once.
const listBytesMax = 1 << 20

// appendList appends a slice or an array; nil is []. After its first item memory is reserved for all, as far as they are
// like that one: memory that grows step by step is touched twice.
func (p *plan) appendList(dst []byte, v reflect.Value) (_ []byte, err error) {
	dst = append(dst, '[')
	opened := len(dst)
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == 1 {
			dst = slices.Grow(dst, min((len(dst)-opened)*(v.Len()-1), listBytesMax))
		}
		if dst, err = p.elem.append(dst, v.Index(i)); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendMap appends a map as an object, its keys in JCS order. Go iterates over maps in random
// order, so sorting is what makes the bytes reproducible.
func (p *plan) appendMap(dst []byte, v reflect.Value) (_ []byte, err error) {
	keys := make([]string, 0, v.Len())
	items := make(map[string]reflect.Value, v.Len())
	for key, item := range v.Seq2() {
		k := key.String()
		if text, ok := key.Interface().(encoding.TextMarshaler); ok {
			b, err := text.MarshalText()
			if err != nil {
				return dst, err
			}
			k = string(b)
		}
		keys = append(keys, k)
		items[k] = item
	}
	slices.SortFunc(keys, CompareKeys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendText(dst, k); err != nil {
			return dst, err
		}
		if dst, err = p.elem.append(append(dst, ':'), items[k]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendStruct appends a struct as an object.
func (p *plan) appendStruct(dst []byte, v reflect.Value) (_ []byte, err error) {
	dst = append(dst, '{')
	opened := len(dst)
	for i := range p.fields {
		f := &p.fields[i]
		member := v.FieldByIndex(f.index)
		if f.omitZero && f.plan.zero(member) {
			continue
		}
		opening := f.opening
		if len(dst) == opened {
			opening = opening[1:] // without the comma
		}
		if dst, err = f.plan.append(append(dst, opening...), member); err != nil {
			return dst, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return append(dst, '}'), nil
}
