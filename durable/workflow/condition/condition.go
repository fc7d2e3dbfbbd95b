// Package condition implements the conditions of workflows: comparisons of one context
// variable with a constant, or the variable alone, combined with and, or and not. A
// condition is a JSON value without expressions or functions, and evaluating a parsed
// condition cannot fail.
//
// The package parses, evaluates and analyses conditions. It does not decide what follows
// from the result, such as skipping a step or leaving a loop. Start reading at Condition
// and Parse; operators are listed in operator.go.
package condition

import (
	"github.com/waybill/waybill/durable/canon"
)

// Condition is a parsed condition. The zero Condition is always true. Conditions are
// immutable and safe to copy.
type Condition struct {
	kind  kind
	path  string      // of kindCompare: the variable
	tests []test      // of kindCompare: at least one; all must be true
	parts []Condition // of kindAnd and kindOr: at least two; of kindNot: one
}

// kind is the form of a Condition.
type kind uint8

const (
	kindAlways kind = iota // the zero Condition
	kindCompare
	kindAnd
	kindOr
	kindNot
)

// test is one operator with its operand, or truthy if the source has no operator.
type test struct {
	op      operator
	operand canon.Value
}

// IsZero reports whether c is the zero Condition, which represents an absent condition.
// Callers use it to tell an absent condition from one that the author wrote.
func (c Condition) IsZero() bool { return c.kind == kindAlways }

// Eval reports whether c is true for vars, an object of context variables. An absent
// variable has the value null.
func (c Condition) Eval(vars canon.Value) bool {
	switch c.kind {
	case kindCompare:
		v, _ := Lookup(vars, c.path)
		for _, t := range c.tests {
			if !t.op.holds(v, t.operand) {
				return false
			}
		}
		return true
	case kindAnd:
		for _, p := range c.parts {
			if !p.Eval(vars) {
				return false
			}
		}
		return true
	case kindOr:
		for _, p := range c.parts {
			if p.Eval(vars) {
				return true
			}
		}
		return false
	case kindNot:
		return !c.parts[0].Eval(vars)
	}
	return true // kindAlways
}

// Missing returns the paths of the variables that c refers to and that vars does not
// contain, each once, in source order. A variable whose value is null is not missing.
func (c Condition) Missing(vars canon.Value) []string {
	var out []string
	seen := map[string]bool{}
	c.visit(func(path string) {
		if _, ok := Lookup(vars, path); !ok && !seen[path] {
			seen[path] = true
			out = append(out, path)
		}
	})
	return out
}

// visit calls each for all comparisons in source order, including those that evaluation
// would not reach: the result of Missing must not depend on the values of other variables.
func (c Condition) visit(each func(path string)) {
	if c.kind == kindCompare {
		each(c.path)
	}
	for _, p := range c.parts {
		p.visit(each)
	}
}

// Value returns c in its normal form, which a compiled workflow embeds and hashes: the
// operators of a comparison are in the order of the table, and an and or or of one part is
// that part. Parsing the result gives the same condition. Null for the zero Condition.
func (c Condition) Value() canon.Value {
	switch c.kind {
	case kindCompare:
		members := []canon.Member{{Name: "var", Value: canon.OfString(c.path)}}
		for _, t := range c.tests {
			if t.op.name != "" { // truthy has no member
				members = append(members, canon.Member{Name: t.op.name, Value: t.operand})
			}
		}
		return canon.OfMembers(members...)
	case kindAnd, kindOr:
		items := make([]canon.Value, len(c.parts))
		for i, p := range c.parts {
			items[i] = p.Value()
		}
		name := "and"
		if c.kind == kindOr {
			name = "or"
		}
		return canon.OfMembers(canon.Member{Name: name, Value: canon.OfList(items...)})
	case kindNot:
		return canon.OfMembers(canon.Member{Name: "not", Value: c.parts[0].Value()})
	}
	return canon.Value{}
}

// String returns the normal form as JCS, for decision traces; "always" for the zero
// Condition.
func (c Condition) String() string {
	if c.IsZero() {
		return "always"
	}
	return string(c.Value().JCS())
}

// Variables returns the paths that c refers to, each once, in source order.
func (c Condition) Variables() []string { return c.Missing(canon.Value{}) }
