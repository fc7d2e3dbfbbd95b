package canon

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Marshal writes x as RFC 8785 bytes. It fails on a zero id or digest, on a
// string that is not valid UTF-8 and on a number that JSON does not have.
func Marshal(x any) ([]byte, error) { return Append(nil, x) }

// Append is Marshal behind dst.
func Append(dst []byte, x any) ([]byte, error) {
	return appendValue(dst, reflect.ValueOf(x))
}

// ValueOf is the Value that Marshal(x) spells.
func ValueOf(x any) (Value, error) {
	b, err := Marshal(x)
	if err != nil {
		return Value{}, err
	}
	return Parse(b)
}

func appendValue(dst []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(dst, "null"...), nil
	}
	t := v.Type()
	if t == valueType {
		return v.Interface().(Value).AppendJCS(dst)
	}
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
