package condition

import "github.com/waybill/waybill/durable/canon"

// Decide evaluates c like Eval and also reports whether the result is independent of the
// values of absent variables. A comparison of an absent variable is not decided; and, or
// and not follow Kleene's three-valued logic, so that one false part decides an "and"
// regardless of the others. held equals the result of Eval, decided or not. The zero
// Condition is true and decided.
//
// A loop uses it at the end of an iteration: a variable that was never set must not end the
// loop (docs/design.md#loops).
func (c Condition) Decide(vars canon.Value) (held, decided bool) {
	switch c.kind {
	case kindCompare:
		// Eval reads an absent variable as null, which is a result but not a decision.
		_, decided = Lookup(vars, c.path)
		return c.Eval(vars), decided
	case kindAnd, kindOr:
		return c.decideList(vars)
	case kindNot:
		held, decided = c.parts[0].Decide(vars)
		return !held, decided
	}
	return true, true
}

// decideList decides "and" and "or". One decided part with the dominant value decides the
// list; otherwise all parts must be decided.
func (c Condition) decideList(vars canon.Value) (held, decided bool) {
	dominant := c.kind == kindOr // true decides an "or", false an "and"
	held, decided = !dominant, true
	for _, p := range c.parts {
		h, d := p.Decide(vars)
		if h == dominant && d {
			return dominant, true
		}
		if h == dominant {
			held = dominant
		}
		decided = decided && d
	}
	return held, decided
}
