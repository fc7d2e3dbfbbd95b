package contract

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// What the packs are written with.

func must(name string, s Shape) Field { return Field{name, true, s} }
func may(name string, s Shape) Field  { return Field{name, false, s} }

// object is closed: members that no field names are refused.
func object(fields ...Field) Shape {
	slices.SortStableFunc(fields, func(a, b Field) int { return canon.CompareKeys(a.Name, b.Name) })
	return Shape{Type: Object, Fields: fields}
}

// open keeps further members. Agents enrich what lies inside an artifact: what
// decides a run lies at its top.
func open(fields ...Field) Shape {
	s := object(fields...)
	s.Open = true
	return s
}

// text has from least to most characters; 0 is no bound.
func text(least, most int) Shape { return Shape{Type: Text, MinChars: least, MaxChars: most} }

func oneOf(words ...string) Shape { return Shape{Type: Text, Enum: words} }

func exactly(v canon.Value) Shape {
	if v.Kind() == canon.Number {
		return Shape{Type: Integer, Const: v}
	}
	return Shape{Type: Text, Const: v}
}

// listOf has at most so many items; 0 is no bound.
func listOf(most int, items Shape) Shape { return Shape{Type: Array, MaxItems: most, Items: &items} }

// whole is a whole number from least on.
func whole(least float64) Shape { return Shape{Type: Integer, Min: &least} }

func (s Shape) as(description string) Shape { s.Description = description; return s }

// version1 is the only version of the handoffs so far.
func version1() Shape { return exactly(canon.OfInt(1)) }

// example is a JSON text of ours, so one that does not parse is our bug.
func example(text string) canon.Value {
	v, err := canon.Parse([]byte(text))
	if err != nil {
		panic("contract: an example does not parse: " + err.Error())
	}
	return v
}
