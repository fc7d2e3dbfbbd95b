package condition

import (
	"math"
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// Never reports whether c is false in every context, because comparisons of one variable
// contradict each other. The analysis is incomplete: true is certain, false is not.
func (c Condition) Never() bool { return c.excludes(true) }

// Always reports whether c is true in every context. Like Never, only true is certain.
func (c Condition) Always() bool { return c.excludes(false) }

// excludes reports whether c cannot have a result.
func (c Condition) excludes(held bool) bool {
	return c.size() <= sizeMax && !satisfiable(nil, []claim{{c, held}})
}

// sizeMax bounds the conditions that are analysed. Conditions that people write have a few
// parts; the cost of the analysis is quadratic in their number.
const sizeMax = 200

// size returns the number of parts of c, of tests in them and of members of their operands.
func (c Condition) size() int {
	n := 1 + len(c.tests)
	for _, t := range c.tests {
		n += t.operand.Len()
	}
	for _, p := range c.parts {
		n += p.size()
	}
	return n
}

// claim is the assumption that a condition is true (want) or false. A claim about a
// comparison with one test is a fact.
type claim struct {
	Condition
	want bool
}

// divide returns claims about the parts of a list, or about each test of a comparison. The
// claim is that all of them hold, or that one of them does.
func (c claim) divide() (parts []claim, all bool) {
	for _, p := range c.parts {
		parts = append(parts, claim{p, c.want})
	}
	for _, t := range c.tests {
		parts = append(parts, claim{Condition{kind: kindCompare, path: c.path, tests: []test{t}}, c.want})
	}
	return parts, (c.kind == kindOr) != c.want
}

// satisfiable reports whether facts and claims may be true together. It reduces claims to
// facts until only disjunctions remain. These are tried one list at a time, not in all
// combinations, so that a file cannot make the analysis exponential; this is why a result
// of true is uncertain.
func satisfiable(facts, claims []claim) bool {
	facts = slices.Clip(facts) // recursive calls append to copies
	var choices [][]claim
	for len(claims) > 0 {
		next := claims[0]
		claims = claims[1:]
		switch parts, all := next.divide(); {
		case next.kind == kindNot:
			claims = append(claims, claim{next.parts[0], !next.want})
		case len(next.tests) == 1:
			facts = append(facts, next)
		case all:
			claims = append(claims, parts...)
		default: // none of no parts: the zero Condition is not false
			choices = append(choices, parts)
		}
	}
	if !consistent(facts) {
		return false
	}
	// Each disjunction is combined with the facts only, not with the other disjunctions.
	for _, list := range choices {
		if !slices.ContainsFunc(list, func(one claim) bool { return satisfiable(facts, []claim{one}) }) {
			return false
		}
	}
	return true
}

// consistent reports whether the facts about each variable are possible. Paths that overlap
// count as different variables, so that fewer contradictions are found, never wrong ones.
func consistent(facts []claim) bool {
	byPath := map[string][]claim{}
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
func possible(facts []claim) bool {
	satisfies := func(c candidate) bool {
		return !slices.ContainsFunc(facts, func(f claim) bool { return !f.allows(c) })
	}
	if values, few := candidates(facts); few {
		return slices.ContainsFunc(values, satisfies)
	}
	// Bounds are treated as inclusive here; the case low == high is checked exactly below.
	low, high, isNumber, isContainer := math.Inf(-1), math.Inf(1), false, false
	for _, f := range facts {
		switch name, bound := f.tests[0].op.name, f.tests[0].operand.Float(); {
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
	return !isNumber || low < high || low == high && satisfies(candidate{Value: canon.OfFloat(low)})
}

// candidates returns the only values that the variable can have, if a fact restricts it to
// a finite set of values and of sets of texts that are alike; few is false otherwise.
func candidates(facts []claim) (values []candidate, few bool) {
	for _, f := range facts {
		switch name, operand := f.tests[0].op.name, f.tests[0].operand; {
		case f.want && name == "equals", !f.want && name == "not_equals":
			return alikeTo(operand, facts), true
		case f.want && name == "in":
			for i := range operand.Len() {
				values = append(values, alikeTo(operand.Item(i), facts)...)
			}
			return values, true
		case !f.want && name == truthy.name:
			for _, v := range falsy {
				values = append(values, candidate{Value: v})
			}
			return values, true
		}
	}
	return nil, false
}
