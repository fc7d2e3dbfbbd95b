package problem

import (
	"fmt"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
)

// SourceValue is a value and its location in the source, from which problems are reported.
type SourceValue struct {
	Value   canon.Value
	Pointer string // RFC 6901, from the root of the source
}

// Member returns the place of an object's member. An absent member is null on the line of the
// object, where it would have to be added.
func (p SourceValue) Member(name string) SourceValue {
	v, ok := p.Value.Get(name)
	if !ok {
		v = v.AtLine(p.Value.Line())
	}
	return SourceValue{v, p.Pointer + "/" + canon.EscapePointer(name)}
}

// Item returns the place of an array's i-th item.
func (p SourceValue) Item(i int) SourceValue {
	return SourceValue{p.Value.Item(i), p.Pointer + "/" + strconv.Itoa(i)}
}

// Items returns the places of an array's items, nil when p is not an array.
func (p SourceValue) Items() []SourceValue {
	if p.Value.Kind() != canon.Array {
		return nil
	}
	out := make([]SourceValue, p.Value.Len())
	for i := range out {
		out[i] = p.Item(i)
	}
	return out
}

// Names returns the names of an object's members, nil when p is not an object.
//
//go:noinline
func (p SourceValue) Names() []string {
	if p.Value.Kind() != canon.Object {
		return nil
	}
	out := make([]string, p.Value.Len())
	for i := range out {
		out[i] = p.Value.Key(i)
	}
	return out
}

// Has reports whether p is an object with such a member.
//
//go:noinline
func (p SourceValue) Has(name string) bool {
	_, ok := p.Value.Get(name)
	return ok
}

// Report receives problems. A check continues after it has reported one, so that all problems of
// a source are found in one pass.
type Report func(Problem)

// Error reports that the value at p is not valid. fix says what to type instead, "" for nothing.
func (r Report) Error(p SourceValue, fix, format string, args ...any) {
	r(Problem{Pointer: p.Pointer, Line: p.Value.Line(), Severity: Error, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// Warn reports a value at p that is valid, and probably not what the author meant.
func (r Report) Warn(p SourceValue, fix, format string, args ...any) {
	r(Problem{Pointer: p.Pointer, Line: p.Value.Line(), Severity: Warning, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// Expect reports an error unless the value at p is of a kind, and returns whether it is. What was
// expected is a sentence, which Expect ends with the kind that was found.
func (r Report) Expect(p SourceValue, kind canon.Kind, fix, expected string) bool {
	if p.Value.Kind() == kind {
		return true
	}
	r.Error(p, fix, "%s, got %s", expected, p.Value.Kind())
	return false
}

// Parser makes a T of the value at a place and reports its problems. It continues after an error,
// so that all are reported at once; what it then returns is discarded.
type Parser[T any] func(SourceValue, Report) T

// Parse returns what p makes of the value at a place. The second result is false, and the first
// zero, if p reported an error; warnings do not matter.
func (p Parser[T]) Parse(at SourceValue, report Report) (out T, ok bool) {
	ok = true
	out = p(at, func(found Problem) {
		ok = ok && found.Severity != Error
		report(found)
	})
	if !ok {
		out = *new(T)
	}
	return out, ok
}

// Decode is Parse for a value of a compiled workflow, which what names. It fails with the first
// error, which means that the document was not written by Waybill or is damaged.
func (p Parser[T]) Decode(what string, v canon.Value) (T, error) {
	var first error
	out, _ := p.Parse(SourceValue{Value: v}, func(found Problem) {
		if first == nil && found.Severity == Error {
			first = fmt.Errorf("%s%s: %s", what, found.Pointer, found.Message)
		}
	})
	return out, first
}

// ParseItems returns what parse makes of the items of an array, nil if p is not an array.
func ParseItems[T any](p SourceValue, report Report, parse Parser[T]) []T {
	var out []T
	for _, item := range p.Items() {
		out = append(out, parse(item, report))
	}
	return out
}

// IsEmpty reports a member that asks for nothing: false, and a list or an object without items.
func (p SourceValue) IsEmpty() bool { return !p.Value.True() && p.Value.Len() == 0 }
