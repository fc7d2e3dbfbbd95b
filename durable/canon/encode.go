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
func Marshal(x any) ([]byte, error) { return Append(nil, x) }

// Append appends the bytes of Marshal to dst. On an error the returned slice ends in an
// incomplete document; the caller discards it.
func Append(dst []byte, x any) ([]byte, error) {
	return appendValue(dst, reflect.ValueOf(x))
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

// appendValue appends one value. A type's own MarshalText takes precedence over its kind.
func appendValue(dst []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() { // Marshal(nil)
		return append(dst, "null"...), nil
	}
	t := v.Type()
	if t == valueType {
		return v.Interface().(Value).AppendJCS(dst)
	}
	// A pointer is dereferenced first: MarshalText of a nil pointer would panic.
	if t.Implements(textMarshaler) && t.Kind() != reflect.Pointer {
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return dst, err
		}
		return AppendString(dst, string(text)), nil
	}
	switch t.Kind() {
	case reflect.String:
		return appendText(dst, v.String())
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		// A larger integer would be another number for a reader that uses doubles.
		if n := v.Int(); n > maxInteger || n < -maxInteger {
			return dst, errInexact
		}
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case reflect.Float64:
		return AppendNumber(dst, v.Float())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return appendValue(dst, v.Elem())
	case reflect.Slice, reflect.Array:
		return appendList(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Struct:
		return appendStruct(dst, v)
	}
	panic("canon: cannot write a " + t.String())
}

// appendList appends a slice or an array; nil is [].
func appendList(dst []byte, v reflect.Value) (_ []byte, err error) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, v.Index(i)); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendMap appends a map as an object, its keys in JCS order. Go iterates over maps in random
// order, so sorting is what makes the bytes reproducible.
func appendMap(dst []byte, v reflect.Value) (_ []byte, err error) {
	keys := make([]string, 0, v.Len())
	items := make(map[string]reflect.Value, v.Len())
	for it := v.MapRange(); it.Next(); {
		k := it.Key().String()
		if text, ok := it.Key().Interface().(encoding.TextMarshaler); ok {
			b, err := text.MarshalText()
			if err != nil {
				return dst, err
			}
			k = string(b)
		}
		keys = append(keys, k)
		items[k] = it.Value()
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
		if dst, err = appendValue(append(dst, ':'), items[k]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendStruct appends a struct as an object. fieldsOf lists the fields in JCS order already.
func appendStruct(dst []byte, v reflect.Value) (_ []byte, err error) {
	dst = append(dst, '{')
	first := true
	for _, f := range fieldsOf(v.Type()) {
		member := v.FieldByIndex(f.index)
		if f.omitZero && isZero(member) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(AppendString(dst, f.name), ':')
		if dst, err = appendValue(dst, member); err != nil {
			return dst, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return append(dst, '}'), nil
}
