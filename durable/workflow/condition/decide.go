package condition

import "github.com/waybill/waybill/durable/canon"

// Decide is Eval with a second answer: whether it would be the same whatever the
// absent variables turn out to be. A comparison of an absent variable is not
// decided; and, or, not follow Kleene's logic, so that one part that is false
// decides an "and" whatever its other parts lack. held is what Eval says, with or
// without a decision. The zero Condition holds and is decided.
//
// A loop asks it at the end of an iteration: an answer that nobody gave must not
// end the loop (R22).
func (c Condition) Decide(vars canon.Value) (held, decided bool) {
	switch c.kind {
	case compare:
		_, decided = Lookup(vars, c.path)
		return c.Eval(vars), decided
	case all, some:
		return c.decideList(vars)
	case none:
		held, decided = c.parts[0].Decide(vars)
		return !held, decided
	}
	return true, true
}

// decideList is "and" and "or": one decided part of the value that settles the list
// is enough, else all parts must be decided.
func (c Condition) decideList(vars canon.Value) (held, decided bool) {
	settles := c.kind == some // true settles an "or", false an "and"
	held, decided = !settles, true
	for _, p := range c.parts {
		h, d := p.Decide(vars)
		if h == settles && d {
			return settles, true
		}
		if h == settles {
			held = settles
		}
		decided = decided && d
	}
	return held, decided
}
