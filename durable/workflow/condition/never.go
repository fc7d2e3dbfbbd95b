package condition

import (
	"math"

	"github.com/waybill/waybill/durable/canon"
)

// Never reports that c cannot hold whatever the context is: comparisons of one
// variable that contradict each other. What it does not find may still be
// impossible; what it reports is.
func (c Condition) Never() bool { return c.size() <= sizeMax && !satisfiable(nil, []claim{{c, true}}) }

// Always reports, with the same reserve, that c holds whatever the context is.
func (c Condition) Always() bool {
	return c.size() <= sizeMax && !satisfiable(nil, []claim{{c, false}})
}

// sizeMax bounds what is searched: conditions that people write have a handful of
// parts, and the search takes the square of their number.
const sizeMax = 200

// size counts the parts of c and the tests in them.
func (c Condition) size() int {
	n := 1 + len(c.tests)
	for _, p := range c.parts {
		n += p.size()
	}
	return n
}

// claim says of a condition that it holds, or does not.
type claim struct {
	c    Condition
	want bool
}

// fact is a claim about one test of one variable.
type fact struct {
	path string
	test test
	want bool
}

// satisfiable reports whether facts and claims might be true together. Alternatives
// are tried one list at a time, never all combinations: a file must not be able to
// make this slow.
func satisfiable(facts []fact, claims []claim) bool {
	facts = facts[:len(facts):len(facts)] // alternatives share what stands before
	var choices [][]claim
	for len(claims) > 0 {
		next := claims[0]
		claims = claims[1:]
		switch c := next.c; {
		case c.kind == always && !next.want:
			return false
		case c.kind == none:
			claims = append([]claim{{c.parts[0], !next.want}}, claims...)
		case c.kind == compare && (next.want || len(c.tests) == 1):
			for _, t := range c.tests {
				facts = append(facts, fact{c.path, t, next.want})
			}
		case c.kind == compare:
			choices = append(choices, alternatives(c))
		case (c.kind == all) == next.want: // all hold, or none of "or" holds
			for _, p := range c.parts {
				claims = append(claims, claim{p, next.want})
			}
		case c.kind == all || c.kind == some:
			var list []claim
			for _, p := range c.parts {
				list = append(list, claim{p, next.want})
			}
			choices = append(choices, list)
		}
	}
	if !consistent(facts) {
		return false
	}
	for _, list := range choices {
		open := false
		for _, one := range list {
			open = open || satisfiable(facts, []claim{one})
		}
		if !open {
			return false
		}
	}
	return true
}

// alternatives are the ways in which a comparison of several tests does not hold.
func alternatives(c Condition) []claim {
	out := make([]claim, len(c.tests))
	for i, t := range c.tests {
		out[i] = claim{Condition{kind: compare, path: c.path, tests: []test{t}}, false}
	}
	return out
}

// consistent looks at each variable by itself. Paths that overlap are taken for
// different variables, which only makes it find less.
func consistent(facts []fact) bool {
	byPath := map[string][]fact{}
	for _, f := range facts {
		byPath[f.path] = append(byPath[f.path], f)
	}
	for _, list := range byPath {
		if !possible(list) {
			return false
		}
	}
	return true
}

// possible reports whether one value might fulfil all facts. Where the facts leave
// a few values, each is tried; else only bounds and kinds are compared.
func possible(facts []fact) bool {
	if values, few := candidates(facts); few {
		for _, v := range values {
			if fulfils(v, facts) {
				return true
			}
		}
		return false
	}
	low, high, isNumber, isContainer := math.Inf(-1), math.Inf(1), false, false
	for _, f := range facts {
		switch name, bound := f.test.op.name, f.test.operand.Float(); {
		case !f.want:
		case name == "gt" || name == "gte":
			isNumber, low = true, max(low, bound)
		case name == "lt" || name == "lte":
			isNumber, high = true, min(high, bound)
		case name == "contains":
			isContainer = true
		}
	}
	if isNumber && isContainer {
		return false
	}
	if !isNumber || low < high {
		return true
	}
	return low == high && fulfils(canon.OfFloat(low), facts)
}

// candidates are the only values that the variable can have, where facts say so.
func candidates(facts []fact) (values []canon.Value, few bool) {
	for _, f := range facts {
		switch {
		case f.want && f.test.op.name == "equals", !f.want && f.test.op.name == "not_equals":
			return []canon.Value{f.test.operand}, true
		case f.want && f.test.op.name == "in":
			for i := range f.test.operand.Len() {
				values = append(values, f.test.operand.Item(i))
			}
			few = true
		case !f.want && f.test.op.name == "": // not truthy
			return falsy, true
		}
		if few {
			return values, true
		}
	}
	return nil, false
}

// fulfils judges one value by the operators themselves.
func fulfils(v canon.Value, facts []fact) bool {
	for _, f := range facts {
		if f.test.op.holds(v, f.test.operand) != f.want {
			return false
		}
	}
	return true
}
