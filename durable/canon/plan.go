package canon

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// The fields of a struct are read from its json tags once per type. Supported types are
// strings, booleans, int, int32, int64, float64, structs, pointers (nil is null), slices, maps
// with text keys, Value, and types that marshal to text (ids, digests). Only the option
// "omitzero" is known: it leaves a zero field out; a field without it is required when decoding.

// field is one member of a struct. fieldsOf returns them in JCS order.
type field struct {
	name     string
	index    []int
	omitZero bool
}

var plans sync.Map // reflect.Type → []field

// fieldsOf returns the members of struct type t in JCS order. A field without a json name is a
// programming error and panics: its Go name would become part of the stored format by accident.
func fieldsOf(t reflect.Type) []field {
	if known, ok := plans.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous {
			continue
		}
		tag, ok := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if !ok || name == "" {
			panic(fmt.Sprintf("canon: field %s of %s has no json name", f.Name, t))
		}
		if name == "-" {
			continue
		}
		fields = append(fields, field{name: name, index: f.Index, omitZero: options == "omitzero"})
	}
	slices.SortFunc(fields, func(a, b field) int { return CompareKeys(a.name, b.name) })
	plans.Store(t, fields)
	return fields
}

// The types and interfaces that encoding and decoding treat specially.
var (
	valueType       = reflect.TypeFor[Value]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	zeroer          = reflect.TypeFor[interface{ IsZero() bool }]()
)

// isZero reports whether omitzero leaves v out: by the type's own IsZero, else an empty slice
// or map, else the zero value.
func isZero(v reflect.Value) bool {
	if v.Type().Implements(zeroer) && v.Kind() != reflect.Pointer {
		return v.Interface().(interface{ IsZero() bool }).IsZero()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}
