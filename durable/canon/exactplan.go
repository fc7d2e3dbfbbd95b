package canon

import (
	"encoding"
	"reflect"
	"sync"
)

// exactForm is how an exactPlan reads.
type exactForm uint8

const (
	exactNot exactForm = iota // a form that only the long way reads
	exactTree
	exactName // a type with one spelling
	exactString
	exactBool
	exactInt
	exactFloat
	exactPointer
	exactSlice
	exactStruct
)

// oneSpelling is text of which every accepted spelling is written again as it was
// read: ids and digests.
type oneSpelling interface {
	UnmarshalString(text string) error
}

// exactPlan is how a type is read, found out once.
type exactPlan struct {
	form   exactForm
	typ    reflect.Type
	elem   *exactPlan   // of pointers and slices
	fields []exactField // of structs, in JCS order
	asks   bool         // the type says itself what is zero
}

type exactField struct {
	opening  string // ,"name":
	index    []int
	omitZero bool
	plan     *exactPlan
}

var (
	exactPlans  sync.Map // reflect.Type → *exactPlan
	oneSpeller  = reflect.TypeFor[oneSpelling]()
	textWritten = reflect.TypeFor[encoding.TextMarshaler]()
)

func exactPlanOf(t reflect.Type) *exactPlan {
	if known, ok := exactPlans.Load(t); ok {
		return known.(*exactPlan)
	}
	plan := buildExact(t, map[reflect.Type]*exactPlan{})
	exactPlans.Store(t, plan)
	return plan
}

// buildExact plans t and what it is made of. made is what is being planned: a type may
// hold itself.
func buildExact(t reflect.Type, made map[reflect.Type]*exactPlan) *exactPlan {
	if p, ok := made[t]; ok {
		return p
	}
	p := &exactPlan{typ: t, asks: t.Kind() != reflect.Pointer && t.Implements(zeroer)}
	made[t] = p
	switch pointer := reflect.PointerTo(t); {
	case t == valueType:
		p.form = exactTree
		return p
	case pointer.Implements(oneSpeller) && t.Implements(textWritten):
		p.form = exactName
		return p
	case pointer.Implements(textUnmarshaler) || pointer.Implements(textWritten) && t.Kind() != reflect.Pointer:
		return p // it may have several spellings
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

// zero is isZero without looking the type up.
func (p *exactPlan) zero(v reflect.Value) bool {
	if p.asks {
		return v.Addr().Interface().(interface{ IsZero() bool }).IsZero()
	}
	if p.form == exactSlice {
		return v.Len() == 0
	}
	return v.IsZero()
}
