package canon

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A struct's fields are read from its json tags once per type. Supported are
// strings, booleans, integers, floats, structs, pointers (nil is null), slices,
// maps with text keys, Value, and types that marshal to text (ids, digests).
// "omitzero" leaves a zero field out; every other field must be there.

// field is one member of a struct in its JCS place.
type field struct {
	name     string
	index    []int
	omitZero bool
}

var plans sync.Map // reflect.Type → []field

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

var (
	valueType       = reflect.TypeFor[Value]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	zeroer          = reflect.TypeFor[interface{ IsZero() bool }]()
)

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
