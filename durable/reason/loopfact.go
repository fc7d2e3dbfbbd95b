package reason

import "fmt"

// LoopFact is what a blocker or gap states of a loop that cannot start, continue or end
// (docs/design.md#loops). The zero value is none.
type LoopFact struct {
	// Iteration is the iteration that ends without a decision, or that would start, from 0.
	Iteration int64 `json:"iteration"`
	// Length is the number of iterations that the loop would have, where that is what is wrong.
	Length        int64  `json:"length,omitzero"`
	LoopID        string `json:"loopId"`
	MaxIterations int64  `json:"maxIterations"`
}

// Check returns an error for a fact that must not be stored.
func (l LoopFact) Check() error {
	if l == (LoopFact{}) {
		return nil
	}
	if !ValidStepID(l.LoopID) || l.Iteration < 0 || l.Length < 0 || l.MaxIterations < 0 {
		return fmt.Errorf("loop %q, iteration %d, length %d, maxIterations %d: want an id and numbers from 0", l.LoopID, l.Iteration,
			l.Length, l.MaxIterations)
	}
	return nil
}
