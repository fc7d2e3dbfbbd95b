package compile

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/workflow/source"
)

// checkChoices checks that the choices of an input come from one place, and that a choicesFrom names
// a step that precedes s and can have a result (docs/design.md#typed-answers).
func (s *Step) checkChoices(c *Compiled) error {
	for _, in := range s.Inputs {
		from := in.ChoicesFrom
		if from == nil {
			continue
		}
		ofWorkflow := func(w source.Input) bool { return w.ContextKey == in.ContextKey }
		step, known := c.Step(from.Step)
		switch {
		case !c.Form2() || len(in.Choices) > 0 || slices.ContainsFunc(c.Inputs, ofWorkflow):
			return fmt.Errorf("the input %q has choicesFrom beside other choices, beside an input of the workflow, or in a form that has none",
				in.ContextKey)
		case !known || step.Type == LoopStep || step.Wait != nil || step.Host != nil || !c.precedes(from.Step, s.StepID):
			return fmt.Errorf("the input %q takes its choices from %q, which is no step with a result before this one", in.ContextKey,
				from.Step)
		}
	}
	return nil
}

// precedes reports whether a step comes before another one, in the same sequence or in one around it.
func (c *Compiled) precedes(first, second string) bool {
	before := c.index[first]
	for at, ok := c.index[second]; ok; at, ok = c.index[at.LoopID] {
		if at.LoopID == before.LoopID {
			return before.Index < at.Index
		}
	}
	return false
}
