package condition

import (
	"math"

	"github.com/waybill/waybill/durable/canon"
)

// Never reports whether c is false in every context, because comparisons of one variable
// contradict each other. The analysis is incomplete: true is certain, false is not.
func (c Condition) Never() bool { return c.size() <= sizeMax && !satisfiable(nil, []claim{{c, true}}) }

// Always reports whether c is true in every context. Like Never, only true is certain.
func (c Condition) Always() bool {
	return c.size() <= sizeMax && !satisfiable(nil, []claim{{c, false}})
}

// sizeMax bounds the conditions that are analysed. Conditions that people write have a few
// parts; the cost of the analysis is quadratic in their number.
const sizeMax = 200

// size returns the number of parts of c and of tests in them.
func (c Condition) size() int {
	n := 1 + len(c.tests)
	for _, p := range c.parts {
		n += p.size()
	}
	return n
}

// claim is the assumption that a condition is true (want) or false.
type claim struct {
	c    Condition
	want bool
}

// fact is the assumption that one test of one variable is true (want) or false.
type fact struct {
	path string
	test test
	want bool
}

// satisfiable reports whether facts and claims may be true together. It reduces claims to
// facts until only disjunctions remain. These are tried one list at a time, not in all
// combinations, so that a file cannot make the analysis exponential; this is why a result
// of true is uncertain.
func satisfiable(facts []fact, claims []claim) bool {
	facts = facts[:len(facts):len(facts)] // recursive calls append to copies
	var choices [][]claim
	for len(claims) > 0 {
		next := claims[0]
		claims = claims[1:]
		switch c := next.c; {
		case c.kind == kindAlways && !next.want:
			return false
		case c.kind == kindNot:
			claims = append([]claim{{c.parts[0], !next.want}}, claims...)
		case c.kind == kindCompare && (next.want || len(c.tests) == 1):
			for _, t := range c.tests {
				facts = append(facts, fact{c.path, t, next.want})
			}
		case c.kind == kindCompare:
			choices = append(choices, alternatives(c))
		case (c.kind == kindAnd) == next.want: // an "and" that is true, or an "or" that is false
			for _, p := range c.parts {
				claims = append(claims, claim{p, next.want})
			}
		case c.kind == kindAnd || c.kind == kindOr:
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
	// Each disjunction is combined with the facts only, not with the other disjunctions.
	for _, list := range choices {
		feasible := false
		for _, one := range list {
			feasible = feasible || satisfiable(facts, []claim{one})
		}
		if !feasible {
			return false
		}
	}
	return true
}

// alternatives returns the ways in which a comparison of several tests can be false: each
// test by itself.
func alternatives(c Condition) []claim {
	out := make([]claim, len(c.tests))
	for i, t := range c.tests {
		out[i] = claim{Condition{kind: kindCompare, path: c.path, tests: []test{t}}, false}
	}
	return out
}

// consistent reports whether the facts about each variable are possible. Paths that overlap
// count as different variables, so that fewer contradictions are found, never wrong ones.
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

// possible reports whether one value may satisfy all facts about a variable. If the facts
// restrict it to a few values, each is tried; otherwise only bounds and kinds are compared.
func possible(facts []fact) bool {
	if values, few := candidates(facts); few {
		for _, v := range values {
			if satisfies(v, facts) {
				return true
			}
		}
		return false
	}
	// Bounds are treated as inclusive here; the case low == high is checked exactly below.
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
	// contains is true for strings and lists only, never for a number.
	if isNumber && isContainer {
		return false
	}
	if !isNumber || low < high {
		return true
	}
	return low == high && satisfies(canon.OfFloat(low), facts)
}

// candidates returns the only values that the variable can have, if a fact restricts it to
// a finite set; few is false otherwise.
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

// satisfies evaluates all facts for one value.
func satisfies(v canon.Value, facts []fact) bool {
	for _, f := range facts {
		if f.test.op.holds(v, f.test.operand) != f.want {
			return false
		}
	}
	return true
}
