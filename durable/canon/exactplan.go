package canon

import (
	"encoding"
	"reflect"
	"sync"
)

// exactForm selects the reading routine of an exactPlan.
type exactForm uint8

const (
	exactUnsupported exactForm = iota // not supported: the caller falls back to Parse and Decode
	exactValue
	exactText // a canonicalText: an id or a digest
	exactString
	exactBool
	exactInt
	exactFloat
	exactPointer
	exactSlice
	exactStruct
)

// canonicalText is implemented by text types that encode every accepted text unchanged: ids and
// digests. Only for those does a successful UnmarshalString prove that the text is canonical.
type canonicalText interface {
	UnmarshalString(text string) error
}

// exactPlan describes how a Go type is read. It is built once per type and then shared by all
// goroutines; it is immutable after that.
type exactPlan struct {
	form      exactForm
	typ       reflect.Type
	elem      *exactPlan   // of pointers and slices
	fields    []exactField // of structs, in JCS order
	hasIsZero bool         // the type has a method IsZero
}

// exactField is one member of a struct, in JCS order.
type exactField struct {
	opening  string // the text before the value: ,"name":
	index    []int
	omitZero bool
	plan     *exactPlan
}

var (
	exactPlans        sync.Map // reflect.Type → *exactPlan
	canonicalTextType = reflect.TypeFor[canonicalText]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// exactPlanOf returns the plan of t from the cache, or builds it. Two goroutines may build the
// same plan at once; both results are equal.
func exactPlanOf(t reflect.Type) *exactPlan {
	if known, ok := exactPlans.Load(t); ok {
		return known.(*exactPlan)
	}
	plan := buildExact(t, map[reflect.Type]*exactPlan{})
	exactPlans.Store(t, plan)
	return plan
}

// buildExact builds the plan of t and of the types it is made of. made holds the plans under
// construction, so that a type which refers to itself ends the recursion.
func buildExact(t reflect.Type, made map[reflect.Type]*exactPlan) *exactPlan {
	if p, ok := made[t]; ok {
		return p
	}
	p := &exactPlan{typ: t, hasIsZero: t.Kind() != reflect.Pointer && t.Implements(zeroer)}
	made[t] = p
	// The order matters: a text type is also a struct or a string by its kind.
	switch pointer := reflect.PointerTo(t); {
	case t == valueType:
		p.form = exactValue
		return p
	case pointer.Implements(canonicalTextType) && t.Implements(textMarshalerType):
		p.form = exactText
		return p
	case pointer.Implements(textUnmarshaler) || pointer.Implements(textMarshalerType) && t.Kind() != reflect.Pointer:
		return p // the type may accept several texts for one value
	}
	switch t.Kind() {
	case reflect.String:
		p.form = exactString
	case reflect.Bool:
		p.form = exactBool
	case reflect.Int, reflect.Int32, reflect.Int64:
		p.form = exactInt
	case reflect.Float64:
		p.form = exactFloat
	case reflect.Pointer:
		p.form, p.elem = exactPointer, buildExact(t.Elem(), made)
	case reflect.Slice:
		p.form, p.elem = exactSlice, buildExact(t.Elem(), made)
	case reflect.Struct:
		p.form = exactStruct
		for _, f := range fieldsOf(t) {
			name := string(AppendString([]byte{','}, f.name)) + ":"
			p.fields = append(p.fields,
				exactField{name, f.index, f.omitZero, buildExact(t.FieldByIndex(f.index).Type, made)})
		}
	}
	return p
}

// zero is isZero with the type's properties taken from the plan.
func (p *exactPlan) zero(v reflect.Value) bool {
	if p.hasIsZero {
		return v.Addr().Interface().(interface{ IsZero() bool }).IsZero()
	}
	if p.form == exactSlice {
		return v.Len() == 0
	}
	return v.IsZero()
}
