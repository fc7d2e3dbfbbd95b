// Package condition is the small language in which a workflow asks about its
// context: comparisons of one variable, or the variable alone, joined by and, or,
// not. A condition is data; it has no expressions, no functions and no way to fail when it is read.
//
// It evaluates and says which variables are absent. What follows from an answer
// (a step passed over, a loop left) is decided by whoever asks.
package condition

import (
	"github.com/waybill/waybill/durable/canon"
)

// Condition is a parsed condition. The zero Condition holds always.
type Condition struct {
	kind  kind
	path  string // of a test
	tests []test // of a test, at least one; all must hold
	parts []Condition
}

type kind uint8

const (
	always kind = iota
	compare
	all
	some
	none
)

// test is one operator beside a variable, or truthy where none is written.
type test struct {
	op      operator
	operand canon.Value
}

// IsZero reports the Condition that nobody wrote and that holds always.
func (c Condition) IsZero() bool { return c.kind == always }

// Eval reports whether c holds over vars. An absent variable reads as null.
func (c Condition) Eval(vars canon.Value) bool {
	switch c.kind {
	case compare:
		v, _ := Lookup(vars, c.path)
		for _, t := range c.tests {
			if !t.op.holds(v, t.operand) {
				return false
			}
		}
		return true
	case all:
		for _, p := range c.parts {
			if !p.Eval(vars) {
				return false
			}
		}
		return true
	case some:
		for _, p := range c.parts {
			if p.Eval(vars) {
				return true
			}
		}
		return false
	case none:
		return !c.parts[0].Eval(vars)
	}
	return true
}

// Missing lists the variables that c asks about and vars does not hold, each once,
// in the order in which they are written. A variable that is null is held.
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

// visit goes over all comparisons in the order in which they are written, also
// over those that an evaluation would not reach: what is missing must not depend on
// what is there.
func (c Condition) visit(each func(path string)) {
	if c.kind == compare {
		each(c.path)
	}
	for _, p := range c.parts {
		p.visit(each)
	}
}

// Value is c in its normal form: what a compiled workflow embeds. A list of one
// is its only member; all else stays as it was written. Null for the zero Condition.
func (c Condition) Value() canon.Value {
	switch c.kind {
	case compare:
		members := []canon.Member{{Name: "var", Value: canon.OfString(c.path)}}
		for _, t := range c.tests {
			if t.op.name != "" {
				members = append(members, canon.Member{Name: t.op.name, Value: t.operand})
			}
		}
		return canon.OfMembers(members...)
	case all, some:
		items := make([]canon.Value, len(c.parts))
		for i, p := range c.parts {
			items[i] = p.Value()
		}
		name := "and"
		if c.kind == some {
			name = "or"
		}
		return canon.OfMembers(canon.Member{Name: name, Value: canon.OfList(items...)})
	case none:
		return canon.OfMembers(canon.Member{Name: "not", Value: c.parts[0].Value()})
	}
	return canon.Value{}
}

// String is the normal form as JSON, for traces; "always" for the zero Condition.
func (c Condition) String() string {
	if c.IsZero() {
		return "always"
	}
	return string(c.Value().JCS())
}

// Variables lists the paths that c asks about, each once, in the order in which
// they are written.
func (c Condition) Variables() []string { return c.Missing(canon.Value{}) }
