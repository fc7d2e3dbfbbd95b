package condition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Parse parses the condition at a place and reports its problems, all of them errors. The
// second result is false, and the Condition zero, if a problem was reported.
func Parse(at problem.SourceValue, report problem.Report) (Condition, bool) {
	return parser.Parse(at, report)
}

// Of parses the normal form of a condition, from a compiled workflow; Strictly gives the one of
// a workflow in form 1.
func Of(v canon.Value) (Condition, error) { return parser.Decode("condition", v) }

// parser parses one condition, with the zero Condition at the places of problems.
var parser problem.Parser[Condition] = parse

// example is a condition for messages.
const example = `{"var": "name", "equals": "value"}`

// parse parses one object, which has one form: a comparison, and, or, or not. Several
// forms in one object are rejected, since other engines differ in which of them they use.
func parse(at problem.SourceValue, report problem.Report) Condition {
	if !report.Expect(at, canon.Object, "Write a condition like "+example+".", "a condition must be an object") {
		return Condition{}
	}
	var forms []string
	for _, name := range at.Names() {
		switch {
		case slices.Contains([]kind{kindCompare, kindAnd, kindOr, kindNot}, kind(name)):
			forms = append(forms, name)
		case !slices.Contains(operatorNames, name):
			report.Error(at.Member(name), meant(name), "unknown condition key %q", name)
		}
	}
	switch {
	case len(forms) == 0:
		report.Error(at, "Write a condition like "+example+", or leave it out.",
			"a condition needs var, and, or, or not")
	case len(forms) > 1:
		report.Error(at, "Nest them: put each into a list under and.",
			"a condition has %s in one object, expected one of them", strings.Join(forms, ", "))
	case kind(forms[0]) == kindCompare:
		return parseComparison(at, report)
	case at.Value.Len() > 1:
		report.Error(at, "Put the comparison into a separate object inside the list.",
			"comparisons need var, but are in the same object as %s", forms[0])
	case kind(forms[0]) == kindNot:
		return Condition{kind: kindNot, parts: []Condition{parse(at.Member("not"), report)}}
	default:
		return parseList(at.Member(forms[0]), kind(forms[0]), report)
	}
	return Condition{}
}

// otherNames are names of keys in other languages of conditions, in lower case and without - and _.
var otherNames = map[string]string{
	"eq": "equals", "is": "equals", "value": "equals", "==": "equals", "ne": "not_equals", "neq": "not_equals",
	"isnot": "not_equals", "notequal": "not_equals", "notequals": "not_equals", "!=": "not_equals",
	"greaterthan": "gt", ">": "gt", ">=": "gte", "min": "gte", "lessthan": "lt", "<": "lt", "<=": "lte", "max": "lte",
	"includes": "contains", "has": "contains", "oneof": "in", "anyof": "or", "any": "or", "some": "or", "||": "or",
	"allof": "and", "all": "and", "&&": "and", "none": "not", "!": "not", "variable": "var", "key": "var",
	"path": "var", "contextkey": "var", "exists": "var", "truthy": "var",
}

// meant returns the correction of an unknown key: the key of the other language, or the nearest one.
func meant(name string) string {
	keys := append([]string{"var", "and", "or", "not"}, operatorNames...)
	key := otherNames[strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))]
	switch {
	case key == "var":
		return `Name the variable as "var"; alone it tests whether the variable is set.`
	case key == "":
		key = nearest.Of(name, keys)
	}
	use := "Use var, alone or with one of " + strings.Join(operatorNames, ", ") + "; or and, or, not."
	if key == "" {
		return use
	}
	return fmt.Sprintf("Did you mean %q? ", key) + use
}

// parseList parses the parts of and, or. An empty list is rejected: it would always be true or
// always be false, and the author can have intended neither.
func parseList(at problem.SourceValue, name kind, report problem.Report) Condition {
	if at.Value.Kind() != canon.Array || at.Value.Len() == 0 {
		report.Error(at, "Write "+string(name)+": [ … ] with at least one condition, or leave it out.",
			"%s must be a list of at least one condition", name)
		return Condition{}
	}
	c := Condition{kind: name, parts: problem.ParseItems(at, report, parse)}
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	return c
}

// parseComparison parses var and its operators. A var without an operator tests whether the
// variable is truthy.
func parseComparison(at problem.SourceValue, report problem.Report) Condition {
	name := at.Member("var")
	c := Condition{kind: kindCompare, path: name.Value.Text()}
	if name.Value.Kind() != canon.String || !validPath(c.path) {
		report.Error(name, `Name a context variable, such as "riskLevel" or "review.count".`,
			"var must be a path of names joined by dots")
	}
	for _, op := range operators {
		if _, ok := at.Value.Get(op.name); !ok {
			continue
		}
		operand := at.Member(op.name)
		op.check(operand, report)
		c.tests = append(c.tests, test{op, operand.Value, loosely})
	}
	if len(c.tests) == 0 {
		c.tests = []test{{op: truthy, equal: loosely}}
	}
	return c
}

// check rejects operands with which a comparison could never be true.
func (op operator) check(at problem.SourceValue, report problem.Report) {
	if len(op.want) > 0 && !slices.Contains(op.want, at.Value.Kind()) {
		report.Error(at, "Write a value of that kind; use equals to compare other values.",
			"%s takes a value of kind %s, got %s", op.name, strings.Join(kindNames(op.want), " or "), at.Value.Kind())
	} else if op.name == "in" && at.Value.Len() == 0 {
		report.Error(at, "List the values that are accepted.", "in has an empty list and would never be true")
	}
}

// kindNames returns the names of kinds, nil for none.
func kindNames(kinds []canon.Kind) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.String())
	}
	return out
}
