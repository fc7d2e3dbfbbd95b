package criteria

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// example is a validationCriteria for messages.
const example = `[{"type": "contains", "value": "Findings", "message": "List the findings"}]`

// Parse parses validationCriteria: one rule, a combination by and, or, not, or a list of
// these, all of which must pass. It reports problems with their places. The second result
// is false, and the Criteria zero, if an error was reported; warnings do not matter.
func Parse(at problem.SourceValue, report problem.Report) (Criteria, bool) {
	return parser.Parse(at, report)
}

// Of parses the normal form of criteria, from a compiled workflow; warnings were reported
// when the workflow was compiled.
func Of(v canon.Value) (Criteria, error) {
	if at, ok := withoutMessage(problem.SourceValue{Value: v}); ok {
		return Criteria{}, fmt.Errorf("validationCriteria%s: a validation rule without a message", at)
	}
	return parser.Decode("validationCriteria", v)
}

// withoutMessage returns the pointer of the first rule without a message. A file may leave it out; the
// normal form always has it.
func withoutMessage(at problem.SourceValue) (pointer string, ok bool) {
	if at.Has("type") {
		return at.Pointer, !at.Has("message")
	}
	for _, k := range []kind{kindAnd, kindOr} {
		for _, item := range at.Member(string(k)).Items() {
			if pointer, ok = withoutMessage(item); ok {
				return pointer, ok
			}
		}
	}
	for _, item := range at.Items() {
		if pointer, ok = withoutMessage(item); ok {
			return pointer, ok
		}
	}
	if at.Has(string(kindNot)) {
		return withoutMessage(at.Member(string(kindNot)))
	}
	return "", false
}

// parser parses one validationCriteria value.
var parser problem.Parser[Criteria] = func(at problem.SourceValue, report problem.Report) Criteria {
	var root node
	if at.Value.Kind() == canon.Array {
		root = parseList(at, kindAnd, report)
	} else {
		root = parseNode(at, report)
	}
	return Criteria{&root}
}

// parseNode parses a rule or a combination. Other keys in the object of and, or, not are
// rejected, since they would be ignored.
func parseNode(at problem.SourceValue, report problem.Report) node {
	if !report.Expect(at, canon.Object, "Write "+example+".", "a validation rule must be an object") {
		return node{}
	}
	for _, k := range []kind{kindAnd, kindOr, kindNot} {
		inner := at.Member(string(k))
		switch {
		case !at.Has(string(k)):
			continue
		case at.Value.Len() > 1: // also catches two of and, or, not in one object
			report.Error(at, "Move the other keys into its list.", "%q must be the only key of its object", k)
			return node{}
		case k == kindNot:
			return node{kind: k, parts: []node{parseNode(inner, report)}}
		}
		return parseList(inner, k, report)
	}
	return parseRule(at, report)
}

// parseList parses the parts of a combination. A list of one part becomes that part, so that
// equivalent spellings have the same workflow hash.
func parseList(at problem.SourceValue, k kind, report problem.Report) node {
	n := node{kind: k, parts: problem.ParseItems(at, report, parseNode)}
	switch len(n.parts) {
	case 0:
		report.Error(at, "Write at least one rule, or leave it out.", "expected a list of at least one validation rule")
	case 1:
		return n.parts[0]
	}
	return n
}
