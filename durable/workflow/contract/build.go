package contract

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/sorting"
)

// must and may return a required and an optional field.
func must(name string, s Shape) Field { return Field{name, true, s} }
func may(name string, s Shape) Field  { return Field{name, false, s} }

// object returns a closed Object with the fields in JCS order; other members are rejected.
func object(fields ...Field) Shape {
	sorting.Stable(fields, func(a, b Field) int { return canon.CompareKeys(a.Name, b.Name) })
	return Shape{Type: Object, Fields: fields}
}

// open returns an Object that accepts further members. It is used for nested objects only:
// agents add members there, while the members that decide a run are at the top.
func open(fields ...Field) Shape {
	s := object(fields...)
	s.Open = true
	return s
}

// text returns a Text of least to most characters; 0 is no bound.
func text(least, most int) Shape { return Shape{Type: Text, MinChars: least, MaxChars: most} }

// oneOf returns a Text that is one of words.
func oneOf(words ...string) Shape { return Shape{Type: Text, Enum: words} }

// listOf returns an Array of at most most items; 0 is no bound.
func listOf(most int, items Shape) Shape { return Shape{Type: Array, MaxItems: most, Items: &items} }

// whole returns an Integer of at least least.
func whole(least float64) Shape { return Shape{Type: Integer, Min: &least} }

// as returns a copy of s with a description.
func (s Shape) as(description string) Shape { s.Description = description; return s }

// version1 is the member version of the handoffs, which have one version so far.
func version1() Shape { return Shape{Type: Integer, Const: canon.OfInt(1)} }

// example parses the example of a pack. It panics on invalid JSON, which is a bug in this
// package.
func example(text string) canon.Value {
	v, err := canon.Parse([]byte(text))
	if err != nil {
		panic("contract: an example does not parse: " + err.Error())
	}
	return v
}
