package workflow

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/condition"
	"github.com/waybill/waybill/durable/criteria"
	"github.com/waybill/waybill/durable/nearest"
	"github.com/waybill/waybill/durable/problem"
)

// shape is what a value must look like. Shapes are data: the tables in keys_*.go
// are the published schema, and everything said about it is derived from them.
type shape interface {
	// want says the shape in a few words, to stand behind "expected".
	want() string
	// check reports everything about the value that does not fit.
	check(at problem.Place, report problem.Report)
	// schema is the same in JSON Schema, as far as it can be said there.
	schema() canon.Value
}

// got says what stands at a place, short enough for one line.
func got(at problem.Place) string {
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
func mismatch(at problem.Place, report problem.Report, s shape) {
	report.Error(at, "Write "+s.want()+".", "expected %s, got %s", s.want(), got(at))
}

// anything is a value that only its reader understands, such as a default.
type anything struct{}

func (anything) want() string                        { return "any value" }
func (anything) check(problem.Place, problem.Report) {}

// oneKind is true or false, or an object that is passed on as it is.
type oneKind struct {
	kind canon.Kind
	text string
}

var (
	boolean   = oneKind{canon.Bool, "true or false"}
	anyObject = oneKind{canon.Object, "an object"}
)

func (s oneKind) want() string { return s.text }

// check looks at the kind only.
func (s oneKind) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != s.kind {
		mismatch(at, report, s)
	}
}

// byKind lets the kind of the value choose its shape.
type byKind map[canon.Kind]shape

// want lists the alternatives in the order of JSON's kinds.
func (s byKind) want() string {
	var parts []string
	for k := canon.Null; k <= canon.Object; k++ {
		if inner, ok := s[k]; ok {
			parts = append(parts, inner.want())
		}
	}
	return strings.Join(parts, " or ")
}

// check never tries one shape after the other: the messages of a wrong guess would
// hide the mistake.
func (s byKind) check(at problem.Place, report problem.Report) {
	if inner, ok := s[at.Value.Kind()]; ok {
		inner.check(at, report)
		return
	}
	mismatch(at, report, s)
}

// byTag lets one member of an object choose its shape. The case "" is for objects
// that do not have the member.
type byTag struct {
	key   string
	text  string
	cases map[string]shape
}

func (s byTag) want() string { return s.text }

// check judges by the tag alone, and says so when the tag is what is wrong.
func (s byTag) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() != canon.Object {
		mismatch(at, report, s)
		return
	}
	tag := at.Member(s.key)
	inner, ok := s.cases[tag.Value.Text()]
	if !ok || at.Has(s.key) && tag.Value.Text() == "" {
		s.unknown(tag, report)
		return
	}
	inner.check(at, report)
}

// unknown refuses the tag. Where it may be left out, that is the first advice.
func (s byTag) unknown(tag problem.Place, report problem.Report) {
	known := words{names(s.cases)}
	if _, optional := s.cases[""]; optional && nearest.Of(tag.Value.Text(), known.set) == "" {
		report.Error(tag, fmt.Sprintf("Remove it, or write %s.", known.want()), "expected %s or no %s, got %s", known.want(), s.key, got(tag))
		return
	}
	known.check(tag, report)
}

// conditional is a value of the condition language.
type conditional struct{}

func (conditional) want() string { return `a condition such as {"var": "name", "equals": "value"}` }

// check leaves the language to its package.
func (conditional) check(at problem.Place, report problem.Report) { condition.Parse(at, report) }

// validation is validationCriteria.
type validation struct{}

func (validation) want() string { return "a list of validation rules" }

// check also warns of criteria that only ask for a flag (locks section 19).
func (validation) check(at problem.Place, report problem.Report) {
	if at.Value.Kind() == canon.Array && at.Value.Len() == 0 {
		// The published schema allows it, and what it means is plain.
		report.Warn(at, "Write at least one rule, or leave it out.", "the list of validation rules is empty, so that nothing is checked")
		return
	}
	if c, ok := criteria.Parse(at, report); ok && c.FlagOnly() {
		report.Warn(at, "Ask for evidence as well: numbered findings, file names, a minimum length.",
			"the criteria only check a completion flag, which can be written without doing the work")
	}
}
