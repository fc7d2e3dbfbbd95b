// Package shape is what a JSON value must look like, written as data: a table of keys
// says what is accepted, and what is said about a value that does not fit, and the
// JSON Schema that editors read, are both derived from it.
//
// It knows no document of ours. Rules that bind several places together belong to
// whoever has the table.
package shape

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Shape is what a value must look like.
type Shape interface {
	// Want says the shape in a few words, to stand behind "expected".
	Want() string
	// Check reports everything about the value that does not fit.
	Check(at problem.Place, report problem.Report)
	// Schema is the same in JSON Schema, as far as it can be said there.
	Schema(say Describe) canon.Value
}

// Describe is what an editor shows for a key of an object, by what the object
// describes and the key; "" for nothing.
type Describe func(what, key string) string

// Got says what stands at a place, short enough for one line.
func Got(at problem.Place) string {
	if at.Value.Kind() != canon.String {
		return at.Value.Kind().String()
	}
	text := []rune(at.Value.Text())
	if len(text) > 40 {
		text = append(text[:40], '…')
	}
	return fmt.Sprintf("%q", string(text))
}

// mismatch is the report that every shape shares.
func mismatch(at problem.Place, report problem.Report, s Shape) {
	report.Error(at, "Write "+s.Want()+".", "expected %s, got %s", s.Want(), Got(at))
}

// Anything is a value that only its reader understands, such as a default.
type Anything struct{}

// Want is for a missing key; no value is ever refused.
func (Anything) Want() string { return "any value" }

// Check accepts.
func (Anything) Check(problem.Place, problem.Report) {}

// OneKind is true or false, or an object that is passed on as it is.
type OneKind struct {
	Kind canon.Kind
	Text string // in words
}

// The kinds that tables ask for by themselves.
var (
	Boolean   = OneKind{canon.Bool, "true or false"}
	AnyObject = OneKind{canon.Object, "an object"}
)

// Want is the kind in words.
func (s OneKind) Want() string { return s.Text }

// Check looks at the kind only.
func (s OneKind) Check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != s.Kind {
		mismatch(at, report, s)
	}
}

// ByKind lets the kind of the value choose its shape.
type ByKind map[canon.Kind]Shape

// Want lists the alternatives in the order of JSON's kinds.
func (s ByKind) Want() string {
	var parts []string
	for k := canon.Null; k <= canon.Object; k++ {
		if inner, ok := s[k]; ok {
			parts = append(parts, inner.Want())
		}
	}
	return strings.Join(parts, " or ")
}

// Check never tries one shape after the other: the messages of a wrong guess would
// hide the mistake.
func (s ByKind) Check(at problem.Place, report problem.Report) {
	if inner, ok := s[at.Value.Kind()]; ok {
		inner.Check(at, report)
		return
	}
	mismatch(at, report, s)
}

// ByTag lets one member of an object choose its shape. The case "" is for objects
// that do not have the member.
type ByTag struct {
	Key   string
	Text  string // the objects in words
	Cases map[string]Shape
}

// Want is the objects in words.
func (s ByTag) Want() string { return s.Text }

// Check judges by the tag alone, and says so when the tag is what is wrong.
func (s ByTag) Check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	tag := at.Member(s.Key)
	inner, ok := s.Cases[tag.Value.Text()]
	if !ok || at.Has(s.Key) && tag.Value.Text() == "" {
		s.unknown(tag, report)
		return
	}
	inner.Check(at, report)
}

// unknown refuses the tag. Where it may be left out, that is the first advice.
func (s ByTag) unknown(tag problem.Place, report problem.Report) {
	known := Words{Names(s.Cases)}
	if _, optional := s.Cases[""]; optional && nearest.Of(tag.Value.Text(), known.Set) == "" {
		report.Error(tag, fmt.Sprintf("Remove it, or write %s.", known.Want()), "expected %s or no %s, got %s",
			known.Want(), s.Key, Got(tag))
		return
	}
	known.Check(tag, report)
}
