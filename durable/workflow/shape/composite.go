package shape

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// List is an array whose items have one shape.
type List struct {
	Of       Shape
	Min, Max int    // numbers of items; Max 0: no bound
	Unique   bool   // no two items are equal
	Key      string // no two items have the same text in this member
}

// Want mentions only whether the list may be empty.
func (s List) Want() string {
	if s.Min > 0 {
		return "a list that is not empty"
	}
	return "a list"
}

// Check reports problems of the list's length first, then those of its items. A repeated
// item is reported at its second place.
func (s List) Check(at problem.SourceValue, report problem.Report) {
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

// identity returns what must be unique among the items; false if nothing must be, or if
// the item has no such member.
func (s List) identity(item problem.SourceValue) (string, bool) {
	switch {
	case s.Key != "":
		name := item.Member(s.Key).Value
		return name.Text(), name.Kind() == canon.String
	case s.Unique:
		return string(item.Value.JCS()), true
	}
	return "", false
}

// Field is one key of an Object. It has no name of its own, so that tables of other packages may leave out the names of its
// parts: {"title", text, shape.Required}.
type Field = struct {
	Name     string
	Shape    Shape
	Required bool
}

// Required and Optional are the last part of a Field.
const (
	Required = true
	Optional = false
)

// Object is an object with a closed set of keys, unless it is Open.
type Object struct {
	What   string  // what it describes, such as "a step"; used in messages and schemas
	Fields []Field // in the order of the schema
	// Open accepts further keys: for a description without effect, in which nothing can be lost.
	Open bool
	// Hints are the keys that authors write for others of this format; nil: none. None of them is a key of Fields.
	Hints *Hints
}

// Hints are the meanings of unknown keys. Each key is in one row.
type Hints []struct {
	Hint Hint
	Keys string // in lower case, without - and _, separated by spaces
}

// All returns the keys, each with its meaning.
func (h *Hints) All() iter.Seq2[string, Hint] {
	return func(yield func(string, Hint) bool) {
		for i := 0; h != nil && i < len(*h); i++ {
			for key := range strings.FieldsSeq((*h)[i].Keys) {
				if !yield(key, (*h)[i].Hint) {
					return
				}
			}
		}
	}
}

// of returns the meaning of a key as an author writes it, and whether it has one.
func (h *Hints) of(written string) (Hint, bool) {
	written = hintName.Replace(strings.ToLower(written))
	for key, hint := range h.All() {
		if key == written {
			return hint, true
		}
	}
	return Hint{}, false
}

// Hint is what an author meant by a key that the object does not have.
type Hint struct {
	// Key is the key of the object that takes the same value, "" if none does. The value is then
	// checked under that name, so that a wrong name does not hide what is wrong below it.
	Key string
	Fix string // what to type instead; "": the key of that name
}

// Knows reports a key of the object, or one that means another.
func (s Object) Knows(key string) bool {
	_, means := s.Hints.of(key)
	return means || slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Name == key })
}

// Meant returns a Hint for another name of a key that takes the same value.
func Meant(key string) Hint { return Hint{Key: key} }

// text returns the correction.
func (h Hint) text() string {
	if h.Fix == "" {
		return fmt.Sprintf("Write %q.", h.Key)
	}
	return h.Fix
}

// hintName is the spelling of a key in Hints.
var hintName = strings.NewReplacer("-", "", "_", "")

// Want returns what the object describes.
func (s Object) Want() string { return "an object that describes " + s.What }

// Check reports missing keys and unknown keys. Unknown keys are errors because they would
// be ignored silently; most are typing errors or names of another format, so the key that was
// meant is suggested.
//
// The first UnknownKeysMax unknown keys of an object are reported, and the rest counted in one
// problem.
func (s Object) Check(at problem.SourceValue, report problem.Report) { s.CheckMore(at, 0, report) }

// UnknownKeysMax is the number of unknown keys of an object that are reported one by one.
const UnknownKeysMax = 100

// CheckMore is Check for an object with more unknown keys, which at does not contain.
func (s Object) CheckMore(at problem.SourceValue, more int, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	known := make(map[string]Shape, len(s.Fields))
	for _, f := range s.Fields {
		known[f.Name] = f.Shape
		if f.Required && !at.Has(f.Name) {
			report.Error(at, fmt.Sprintf("Add %q: %s.", f.Name, f.Shape.Want()), "%s lacks %q", s.What, f.Name)
		}
	}
	listed, last := 0, at // the last unknown key that is named, or the first that is not
	for _, name := range at.Names() {
		if inner, ok := known[name]; ok {
			inner.Check(at.Member(name), report)
		} else if s.Open {
			continue
		} else if listed++; listed > UnknownKeysMax {
			if more++; listed == UnknownKeysMax+1 {
				last = at.Member(name)
			}
		} else {
			last = at.Member(name)
			hint, _ := s.Meant(name)
			report.Error(last, hint.text(), "%s has no key %q", s.What, reason.Clip(name, limits.MessageBytesMax))
			if inner, ok := known[hint.Key]; ok && !at.Has(hint.Key) {
				inner.Check(last, report)
			}
		}
	}
	if more > 0 {
		report.Error(last, "Remove them.", "%s has %d more keys that are not known", s.What, more)
	}
}

// keysListed is the number of keys up to which an object's keys are listed in a correction.
const keysListed = 12

// Meant returns what to type instead of an unknown key, and the known keys: what the table of hints
// says, the nearest known key, or otherwise which keys there are.
func (s Object) Meant(name string) (Hint, []string) {
	var keys []string
	for _, f := range s.Fields {
		keys = append(keys, f.Name)
	}
	if hint, ok := s.Hints.of(name); ok {
		return hint, keys
	}
	otherwise := "Remove it."
	if n := len(keys); n > 0 && n <= keysListed {
		otherwise = "Remove it; known keys: " + strings.Join(keys, ", ") + "."
	}
	return Hint{Fix: nearest.Suggest(name, keys, "Did you mean %q?", otherwise)}, keys
}

// Dictionary is an object whose keys the author chooses.
type Dictionary struct {
	Key   Shape // of the names; nil: any name
	Value Shape
}

// Want does not describe the values; Check reports each value by itself.
func (s Dictionary) Want() string { return "an object with values of one kind" }

// Check checks each name and each value.
func (s Dictionary) Check(at problem.SourceValue, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	for _, name := range at.Names() {
		member := at.Member(name)
		if s.Key != nil {
			// The key is checked as a string at the place of its value.
			key := problem.SourceValue{Value: canon.OfString(name).AtLine(member.Value.Line()), Pointer: member.Pointer}
			s.Key.Check(key, report)
		}
		s.Value.Check(member, report)
	}
}

// Names returns the keys of m in sorted order, without the empty one.
func Names[V any](m map[string]V) []string {
	out := slices.Sorted(maps.Keys(m))
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
