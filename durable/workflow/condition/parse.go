package condition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// Parse parses the condition at a place and reports its problems, all of them errors. The
// second result is false, and the Condition zero, if a problem was reported.
func Parse(at problem.SourceValue, report problem.Report) (Condition, bool) {
	p := parser{report: report, ok: true}
	c := p.condition(at)
	if !p.ok {
		return Condition{}, false
	}
	return c, true
}

// Of parses the normal form of a condition, from a compiled workflow. It fails with the
// first problem, which means that the document was not written by Waybill or is damaged.
func Of(v canon.Value) (Condition, error) {
	var first error
	c, _ := Parse(problem.SourceValue{Value: v}, func(found problem.Problem) {
		if first == nil {
			first = fmt.Errorf("condition%s: %s", found.Pointer, found.Message)
		}
	})
	return c, first
}

// parser parses one condition and records whether a problem was reported.
type parser struct {
	report problem.Report
	ok     bool
}

// fail reports an error and clears ok. Parsing continues, with the zero Condition at that
// place, so that all problems are reported at once.
func (p *parser) fail(at problem.SourceValue, fix, format string, args ...any) {
	p.ok = false
	p.report.Error(at, fix, format, args...)
}

// example is a condition for messages.
const example = `{"var": "name", "equals": "value"}`

// condition parses one object, which has one form: a comparison, and, or, or not. Several
// forms in one object are rejected, since other engines differ in which of them they use.
func (p *parser) condition(at problem.SourceValue) Condition {
	if at.Value.Kind() != canon.Object {
		p.fail(at, "Write a condition like "+example+".", "a condition must be an object, got %s", at.Value.Kind())
		return Condition{}
	}
	var forms []string
	for _, name := range at.Names() {
		switch {
		case name == "var" || name == "and" || name == "or" || name == "not":
			forms = append(forms, name)
		case !isOperator(name):
			p.fail(at.Member(name), "Use var, alone or with one of "+operatorNames()+"; or and, or, not.",
				"unknown condition key %q", name)
		}
	}
	switch {
	case len(forms) == 0:
		p.fail(at, "Write a condition like "+example+", or leave it out.",
			"a condition needs var, and, or, or not")
	case len(forms) > 1:
		p.fail(at, "Nest them: put each into a list under and.",
			"a condition has %s in one object, expected one of them", strings.Join(forms, ", "))
	case forms[0] == "var":
		return p.comparison(at)
	case at.Value.Len() > 1:
		p.fail(at, "Put the comparison into a separate object inside the list.",
			"comparisons need var, but are in the same object as %s", forms[0])
	case forms[0] == "not":
		return Condition{kind: kindNot, parts: []Condition{p.condition(at.Member("not"))}}
	default:
		return p.list(at.Member(forms[0]), forms[0])
	}
	return Condition{}
}

// list parses the parts of and, or. An empty list is rejected: it would always be true or
// always be false, and the author can have intended neither.
func (p *parser) list(at problem.SourceValue, name string) Condition {
	if at.Value.Kind() != canon.Array || at.Value.Len() == 0 {
		p.fail(at, "Write "+name+": [ … ] with at least one condition, or leave it out.",
			"%s must be a list of at least one condition", name)
		return Condition{}
	}
	c := Condition{kind: kindAnd}
	if name == "or" {
		c.kind = kindOr
	}
	for _, item := range at.Items() {
		c.parts = append(c.parts, p.condition(item))
	}
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	return c
}

// comparison parses var and its operators. A var without an operator tests whether the
// variable is truthy.
func (p *parser) comparison(at problem.SourceValue) Condition {
	name := at.Member("var")
	c := Condition{kind: kindCompare, path: name.Value.Text()}
	if name.Value.Kind() != canon.String || !validPath(c.path) {
		p.fail(name, `Name a context variable, such as "riskLevel" or "review.count".`,
			"var must be a path of names joined by dots")
	}
	for _, op := range operators {
		if _, ok := at.Value.Get(op.name); !ok {
			continue
		}
		operand := at.Member(op.name)
		p.operand(operand, op)
		c.tests = append(c.tests, test{op, operand.Value})
	}
	if len(c.tests) == 0 {
		c.tests = []test{{op: truthy}}
	}
	return c
}

// operand rejects operands with which a comparison could never be true.
func (p *parser) operand(at problem.SourceValue, op operator) {
	if len(op.want) > 0 && !slices.Contains(op.want, at.Value.Kind()) {
		var kinds []string
		for _, k := range op.want {
			kinds = append(kinds, k.String())
		}
		want := strings.Join(kinds, " or ")
		p.fail(at, "Write a value of that kind; use equals to compare other values.",
			"%s takes a value of kind %s, got %s", op.name, want, at.Value.Kind())
	} else if op.name == "in" && at.Value.Len() == 0 {
		p.fail(at, "List the values that are accepted.", "in has an empty list and would never be true")
	}
}

// isOperator reports whether name is a key of the table of operators.
func isOperator(name string) bool {
	return slices.ContainsFunc(operators, func(op operator) bool { return op.name == name })
}

// operatorNames returns the names for messages, in the order of the table.
func operatorNames() string {
	names := make([]string, len(operators))
	for i, op := range operators {
		names[i] = op.name
	}
	return strings.Join(names, ", ")
}
