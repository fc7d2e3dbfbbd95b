package workflow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/nearest"
	"github.com/waybill/waybill/durable/problem"
)

// list is an array of one shape.
type list struct {
	of       shape
	min, max int    // max 0: no bound
	unique   bool   // no two items are equal
	key      string // no two items have this member in common
}

func (s list) want() string {
	if s.min > 0 {
		return "a list that is not empty"
	}
	return "a list"
}

// check reports the items after the list itself, and repeated items where they
// stand again.
func (s list) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Array {
		mismatch(at, report, s)
		return
	}
	items := at.Items()
	switch {
	case len(items) < s.min:
		report.Error(at, "Add what is missing, or leave the key out.", "expected at least %d items, got %d", s.min, len(items))
	case s.max > 0 && len(items) > s.max:
		report.Error(at, fmt.Sprintf("Keep %d of them.", s.max), "expected at most %d items, got %d", s.max, len(items))
	}
	seen := map[string]int{}
	for i, item := range items {
		s.of.check(item, report)
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
func (s list) identity(item problem.Place) (string, bool) {
	switch {
	case s.key != "":
		name := item.Member(s.key).Value
		return name.Text(), name.Kind() == canon.String
	case s.unique:
		return string(item.Value.JCS()), true
	}
	return "", false
}

// field is one key of an object.
type field struct {
	name     string
	shape    shape
	required bool
}

// need is a key without which the object says nothing.
func need(name string, s shape) field { return field{name, s, true} }

// may is a key that can be left out.
func may(name string, s shape) field { return field{name, s, false} }

// object is a closed set of keys.
type object struct {
	what   string // what it describes, for messages
	fields []field
}

func (s object) want() string { return "an object that describes " + s.what }

// check refuses keys it does not know, because an ignored key is a wish that nobody
// hears: most are typing errors, so the nearest known key is the fix.
func (s object) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	known := make(map[string]shape, len(s.fields))
	var keys []string
	for _, f := range s.fields {
		known[f.name], keys = f.shape, append(keys, f.name)
		if f.required && !at.Has(f.name) {
			report.Error(at, fmt.Sprintf("Add %q: %s.", f.name, f.shape.want()), "%s lacks %q", s.what, f.name)
		}
	}
	for _, name := range at.Names() {
		inner, ok := known[name]
		if !ok {
			fix := "Remove it."
			if near := nearest.Of(name, keys); near != "" {
				fix = fmt.Sprintf("Did you mean %q?", near)
			}
			report.Error(at.Member(name), fix, "%s has no key %q", s.what, name)
			continue
		}
		inner.check(at.Member(name), report)
	}
}

// dictionary is an object whose keys the author chooses.
type dictionary struct {
	key, value shape
}

func (s dictionary) want() string { return "an object with values of one kind" }

// check judges each name and each value.
func (s dictionary) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	for _, name := range at.Names() {
		member := at.Member(name)
		if s.key != nil {
			// The key is judged as a string that stands where its value stands.
			key := problem.Place{Value: canon.OfString(name).AtLine(member.Value.Line()), Pointer: member.Pointer}
			s.key.check(key, report)
		}
		s.value.check(member, report)
	}
}

// names lists the keys of a table in a fixed order.
func names[V any](m map[string]V) []string {
	out := slices.Sorted(maps.Keys(m))
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
