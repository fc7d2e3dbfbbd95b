package shape

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// List is an array of one shape.
type List struct {
	Of       Shape
	Min, Max int    // Max 0: no bound
	Unique   bool   // no two items are equal
	Key      string // no two items have this member in common
}

// Want says only whether it may be empty.
func (s List) Want() string {
	if s.Min > 0 {
		return "a list that is not empty"
	}
	return "a list"
}

// Check reports the items after the list itself, and repeated items where they
// stand again.
func (s List) Check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Array {
		mismatch(at, report, s)
		return
	}
	items := at.Items()
	switch {
	case len(items) < s.Min:
		report.Error(at, "Add what is missing, or leave the key out.", "expected at least %d items, got %d", s.Min,
			len(items))
	case s.Max > 0 && len(items) > s.Max:
		report.Error(at, fmt.Sprintf("Keep %d of them.", s.Max), "expected at most %d items, got %d", s.Max, len(items))
	}
	seen := map[string]int{}
	for i, item := range items {
		s.Of.Check(item, report)
		if id, ok := s.identity(item); ok {
			if first, twice := seen[id]; twice {
				report.Error(item, "Remove or rename one of the two.", "item %d repeats item %d", i+1, first+1)
				continue
			}
			seen[id] = i
		}
	}
}

// identity is what must not stand in a list twice.
func (s List) identity(item problem.Place) (string, bool) {
	switch {
	case s.Key != "":
		name := item.Member(s.Key).Value
		return name.Text(), name.Kind() == canon.String
	case s.Unique:
		return string(item.Value.JCS()), true
	}
	return "", false
}

// Field is one key of an object.
type Field struct {
	Name     string
	Shape    Shape
	Required bool
}

// Need is a key without which the object says nothing.
func Need(name string, s Shape) Field { return Field{name, s, true} }

// May is a key that can be left out.
func May(name string, s Shape) Field { return Field{name, s, false} }

// Object is a closed set of keys.
type Object struct {
	What   string // what it describes, for messages
	Fields []Field
}

// ObjectOf is for the tables.
func ObjectOf(what string, fields ...Field) Object { return Object{what, fields} }

// Want says what it describes.
func (s Object) Want() string { return "an object that describes " + s.What }

// Check refuses keys it does not know, because an ignored key is a wish that nobody
// hears: most are typing errors, so the nearest known key is the fix.
func (s Object) Check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	known := make(map[string]Shape, len(s.Fields))
	var keys []string
	for _, f := range s.Fields {
		known[f.Name], keys = f.Shape, append(keys, f.Name)
		if f.Required && !at.Has(f.Name) {
			report.Error(at, fmt.Sprintf("Add %q: %s.", f.Name, f.Shape.Want()), "%s lacks %q", s.What, f.Name)
		}
	}
	for _, name := range at.Names() {
		inner, ok := known[name]
		if !ok {
			fix := "Remove it."
			if near := nearest.Of(name, keys); near != "" {
				fix = fmt.Sprintf("Did you mean %q?", near)
			}
			report.Error(at.Member(name), fix, "%s has no key %q", s.What, name)
			continue
		}
		inner.Check(at.Member(name), report)
	}
}

// Dictionary is an object whose keys the author chooses.
type Dictionary struct {
	Key   Shape // of the names; nil: any
	Value Shape
}

// Want leaves out the kind: the values are judged one by one.
func (s Dictionary) Want() string { return "an object with values of one kind" }

// Check judges each name and each value.
func (s Dictionary) Check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	for _, name := range at.Names() {
		member := at.Member(name)
		if s.Key != nil {
			// The key is judged as a string that stands where its value stands.
			key := problem.Place{Value: canon.OfString(name).AtLine(member.Value.Line()), Pointer: member.Pointer}
			s.Key.Check(key, report)
		}
		s.Value.Check(member, report)
	}
}

// Names lists the keys of a table in a fixed order, without the empty one.
func Names[V any](m map[string]V) []string {
	out := slices.Sorted(maps.Keys(m))
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
