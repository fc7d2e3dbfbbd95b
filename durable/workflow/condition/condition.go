// Package condition implements the conditions of workflows: comparisons of one context
// variable with a constant, or the variable alone, combined with and, or and not. A
// condition is a JSON value without expressions or functions, and evaluating a parsed
// condition cannot fail.
//
// Values are compared strictly first and then loosely, in equal.go; a condition of a workflow
// in form 1 compares strictly only (docs/design.md#compiled-forms).
//
// The package parses, evaluates and analyses conditions. It does not decide what follows
// from the result, such as skipping a step or leaving a loop. Start reading at Condition
// and Parse; operators are listed in operator.go.
package condition

import (
	"slices"

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

// kind is the form of a Condition: the key that makes the form in the source.
type kind string

const (
	kindAlways  kind = "" // the zero Condition
	kindCompare kind = "var"
	kindAnd     kind = "and"
	kindOr      kind = "or"
	kindNot     kind = "not"
)

// test is one operator with its operand, or truthy if the source has no operator.
type test struct {
	op      operator
	operand canon.Value
	equal   equality
}

// holds reports whether the test is true of a value. expected is the operand, or the member of
// the operand, that the value equals by the loose rule only; nil if there is none.
func (t test) holds(v canon.Value) (held bool, expected *canon.Value) {
	return t.op.holds(t.equal, v, t.operand)
}

// IsZero reports whether c is the zero Condition, which represents an absent condition.
// Callers use it to tell an absent condition from one that the author wrote.
func (c Condition) IsZero() bool { return c.kind == kindAlways }

// Strictly returns c with strict comparisons only, for a workflow in form 1.
func (c Condition) Strictly() Condition {
	c.tests, c.parts = slices.Clone(c.tests), slices.Clone(c.parts)
	for i := range c.tests {
		c.tests[i].equal = strictly
	}
	for i := range c.parts {
		c.parts[i] = c.parts[i].Strictly()
	}
	return c
}

// Eval reports whether c is true for vars, an object of context variables. An absent
// variable has the value null.
func (c Condition) Eval(vars canon.Value) bool { return c.Decide(vars).Held }

// Decision is the result of evaluating a condition.
type Decision struct {
	Held bool
	// Decided reports that the result is independent of the values of absent variables.
	Decided bool
	// Loose contains the matches by the loose rule, each once and in source order, of the
	// comparisons that were evaluated: those after the one that decided are not.
	Loose []Match
}

// Decide evaluates c like Eval. A comparison of an absent variable is not decided; and, or
// and not follow Kleene's three-valued logic, so that one false part decides an "and"
// regardless of the others. The zero Condition is true and decided.
//
// A loop uses it at the end of an iteration: a variable that was never set must not end the
// loop (docs/design.md#loops).
func (c Condition) Decide(vars canon.Value) Decision {
	switch c.kind {
	case kindCompare:
		// An absent variable is null, which gives a result but not a decision. Null is strict.
		v, found := Lookup(vars, c.path)
		return c.compare(v, found)
	case kindNot:
		d := c.parts[0].Decide(vars)
		d.Held = !d.Held
		return d
	}
	// "and", "or", or always, as an "and" without parts. One decided part with the dominant
	// value decides; otherwise all parts must be decided.
	dominant := c.kind == kindOr // true decides an "or", false an "and"
	out := Decision{Held: !dominant, Decided: true}
	for _, p := range c.parts {
		d := p.Decide(vars)
		out.Loose = AddMatches(out.Loose, d.Loose)
		if d.Held == dominant && d.Decided {
			out.Held, out.Decided = dominant, true
			return out
		}
		if d.Held == dominant {
			out.Held = dominant
		}
		out.Decided = out.Decided && d.Decided
	}
	return out
}

// compare evaluates the tests of a comparison up to the first one that is false.
func (c Condition) compare(v canon.Value, found bool) Decision {
	out := Decision{Held: true, Decided: found}
	for i := 0; i < len(c.tests) && out.Held; i++ {
		held, expected := c.tests[i].holds(v)
		if expected != nil {
			out.Loose = AddMatches(out.Loose, []Match{{c.path, *expected, v}})
		}
		out.Held = held
	}
	return out
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

// Variables returns the paths that c refers to, each once, in source order.
func (c Condition) Variables() []string { return c.Missing(canon.Value{}) }

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
		return canon.OfMembers(canon.Member{Name: string(c.kind), Value: canon.OfList(items...)})
	case kindNot:
		return canon.OfMembers(canon.Member{Name: string(c.kind), Value: c.parts[0].Value()})
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
