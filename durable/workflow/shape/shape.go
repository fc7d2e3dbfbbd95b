// Package shape describes the form of JSON values as data: types such as Object, List and
// Text, combined into tables. Each Shape can check a value, describe itself in a message
// and produce the JSON Schema that editors use, so that the three cannot diverge.
//
// The package contains no table of its own. Rules that involve several places of a
// document are checked by the package that defines the table. Start reading at Shape.
package shape

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Shape is the form that a value must have.
type Shape interface {
	// Want describes the shape in a few words that follow "expected" in a message.
	Want() string
	// Check reports the parts of the value that do not have the shape. It never fails
	// otherwise and does not modify the value. The order of reports is not significant:
	// callers sort problems by place.
	Check(at problem.SourceValue, report problem.Report)
	// Schema returns the equivalent JSON Schema. Constraints that JSON Schema cannot
	// express are left out, so it may accept more than Check.
	Schema(describe Describe) canon.Value
}

// Describe returns the description of a key for editors, or "" for none. what is the What
// of the Object that has the key.
type Describe func(what, key string) string

// Got describes the value at a place for messages: its kind, or a string in quotes,
// shortened to 40 characters.
func Got(at problem.SourceValue) string {
	if at.Value.Kind() != canon.String {
		return at.Value.Kind().String()
	}
	text := []rune(at.Value.Text())
	if len(text) > 40 {
		text = append(text[:40], '…')
	}
	return fmt.Sprintf("%q", string(text))
}

// mismatch reports that the value does not have shape s.
func mismatch(at problem.SourceValue, report problem.Report, s Shape) {
	report.Error(at, "Write "+s.Want()+".", "expected %s, got %s", s.Want(), Got(at))
}

// Anything accepts every value, such as the default of a parameter.
type Anything struct{}

// Want is used in messages about a missing key only.
func (Anything) Want() string { return "any value" }

// Check reports nothing.
func (Anything) Check(problem.SourceValue, problem.Report) {}

// OneKind accepts every value of one JSON kind.
type OneKind struct {
	Kind canon.Kind
	Text string // the kind in words, for messages
}

// Boolean and AnyObject are the kinds that tables use most.
var (
	Boolean   = OneKind{canon.Bool, "true or false"}
	AnyObject = OneKind{canon.Object, "an object"}
)

// Want returns the kind in words.
func (s OneKind) Want() string { return s.Text }

// Check checks the kind only, not the content.
func (s OneKind) Check(at problem.SourceValue, report problem.Report) {
	if at.Value.Kind() != s.Kind {
		mismatch(at, report, s)
	}
}

// ByKind selects the shape by the JSON kind of the value.
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

// Check applies the shape of the value's kind only. Trying all alternatives would report
// problems of a form that the author did not use.
func (s ByKind) Check(at problem.SourceValue, report problem.Report) {
	if inner, ok := s[at.Value.Kind()]; ok {
		inner.Check(at, report)
		return
	}
	mismatch(at, report, s)
}

// ByTag selects the shape of an object by the text of one member. The case "" applies to
// objects without that member.
type ByTag struct {
	Key   string // the member that selects
	Text  string // the objects in words, for messages
	Cases map[string]Shape
}

// Want returns the objects in words.
func (s ByTag) Want() string { return s.Text }

// Check applies the shape that the tag selects. Beside an unknown tag the other members are
// checked by the case of the nearest tag, or else of no tag.
func (s ByTag) Check(at problem.SourceValue, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	tag := at.Member(s.Key)
	inner, ok := s.Cases[tag.Value.Text()]
	if !ok || at.Has(s.Key) && tag.Value.Text() == "" {
		s.unknown(tag, report)
		// The case of no tag is tried only where it is about keys: another one would repeat the complaint.
		nearest := s.Nearest(tag.Value.Text())
		if inner, ok = s.Cases[nearest]; !ok {
			return
		}
		if _, keyed := inner.(Object); nearest == "" && !keyed {
			return
		}
		all := report
		report = func(p problem.Problem) {
			// The case complains about the tag too, at its place or that it is no key.
			if p.Pointer != tag.Pointer {
				all(p)
			}
		}
	}
	inner.Check(at, report)
}

// Nearest returns the known tag that an unknown one is most similar to, "" if none is.
func (s ByTag) Nearest(tag string) string { return nearest.Of(tag, Names(s.Cases)) }

// unknown reports an unknown tag. Where the tag is optional and no known one is similar,
// the suggestion is to remove it.
func (s ByTag) unknown(tag problem.SourceValue, report problem.Report) {
	known := Words(Names(s.Cases))
	if _, optional := s.Cases[""]; optional && nearest.Of(tag.Value.Text(), known) == "" {
		report.Error(tag, fmt.Sprintf("Remove it, or write %s.", known.Want()), "expected %s or no %s, got %s",
			known.Want(), s.Key, Got(tag))
		return
	}
	known.Check(tag, report)
}
