package canon

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/sorting"
)

// Types are read once, from their json tags. Supported are strings, booleans, int, int32, int64,
// float64, structs, pointers (nil is null), slices, maps with text keys, Value, and types that
// marshal to text (ids, digests); interfaces and arrays are only written. Only the option
// "omitzero" is known: it leaves a zero field out; a field without it is required when decoding.

// form is how the values of a type are written and read.
type form uint8

const (
	formUnsupported form = iota
	formValue
	formText // an id or a digest
	formString
	formBool
	formInt
	formFloat
	formPointer
	formInterface
	formList
	formMap
	formStruct
)

// canonicalText is implemented by text types that encode every accepted text unchanged: ids and
// digests. For those a successful UnmarshalString proves that the text is canonical.
type canonicalText interface {
	UnmarshalString(text string) error
}

// plan describes how a Go type is written and read. It is built once per type and then shared by
// all goroutines; it is immutable after that.
type plan struct {
	form      form
	typ       reflect.Type
	elem      *plan   // of pointers, lists and maps
	fields    []field // of structs, in JCS order
	hasIsZero bool    // the type has a method IsZero
}

// field is one member of a struct.
type field struct {
	name     string
	opening  string // the text before the value: ,"name":
	index    []int
	omitZero bool
	plan     *plan
}

// The types and interfaces that encoding and decoding treat specially.
var (
	plans             sync.Map // reflect.Type → *plan
	valueType         = reflect.TypeFor[Value]()
	canonicalTextType = reflect.TypeFor[canonicalText]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	zeroerType        = reflect.TypeFor[zeroer]()
)

type zeroer interface{ IsZero() bool }

// forms are the forms of types by their kind, unless they are a Value or a text.
var forms = map[reflect.Kind]form{
	reflect.String: formString, reflect.Bool: formBool, reflect.Float64: formFloat, reflect.Int: formInt,
	reflect.Int32: formInt, reflect.Int64: formInt, reflect.Pointer: formPointer, reflect.Interface: formInterface,
	reflect.Slice: formList, reflect.Array: formList, reflect.Map: formMap, reflect.Struct: formStruct,
}

// planOf returns the plan of t from the cache, or builds it. Two goroutines may build the
// same plan at once; both results are equal.
func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := newPlan(t, map[reflect.Type]*plan{})
	plans.Store(t, p)
	return p
}

// newPlan builds the plan of t and of the types it is made of. made holds the plans under
// construction, so that a type which refers to itself ends the recursion.
func newPlan(t reflect.Type, made map[reflect.Type]*plan) *plan {
	if p, ok := made[t]; ok {
		return p
	}
	p := &plan{form: forms[t.Kind()], typ: t, hasIsZero: t.Kind() != reflect.Pointer && t.Implements(zeroerType)}
	made[t] = p
	// A text type is also a struct or a string by its kind.
	switch {
	case t == valueType:
		p.form = formValue
	case t.Implements(textMarshalerType) && reflect.PointerTo(t).Implements(canonicalTextType):
		p.form = formText
	case p.form == formPointer, p.form == formList, p.form == formMap:
		p.elem = newPlan(t.Elem(), made)
	case p.form == formStruct:
		p.fields = fieldsOf(t, made)
	}
	return p
}

// fieldsOf returns the members of struct type t in JCS order. A field without a json name is a
// programming error and panics: its Go name would become part of the stored format by accident.
func fieldsOf(t reflect.Type, made map[reflect.Type]*plan) []field {
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
		fields = append(fields, field{name: name, opening: string(AppendString([]byte{','}, name)) + ":",
			index: f.Index, omitZero: options == "omitzero", plan: newPlan(f.Type, made)})
	}
	sorting.By(fields, func(a, b field) int { return CompareKeys(a.name, b.name) })
	return fields
}

// zero reports whether omitzero leaves v out: by the type's own IsZero, else an empty list or map,
// else the zero value.
func (p *plan) zero(v reflect.Value) bool {
	switch {
	case p.hasIsZero && v.CanAddr(): // without a copy of v
		return v.Addr().Interface().(zeroer).IsZero()
	case p.hasIsZero:
		return v.Interface().(zeroer).IsZero()
	case p.form == formList || p.form == formMap:
		return v.Len() == 0
	}
	return v.IsZero()
}
