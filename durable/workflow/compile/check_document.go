package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// checkInputs checks that no input of the workflow takes its choices from a result: the first step
// requires it, before any result exists.
func (c *Compiled) checkInputs() error {
	for _, in := range c.Inputs {
		if in.ChoicesFrom != nil {
			return fmt.Errorf("the input %q of the workflow takes its choices from a result", in.ContextKey)
		}
	}
	return nil
}

// checkIdentity checks the version, the id and the number of steps, on which all other
// checks rely.
func (c *Compiled) checkIdentity() error {
	if c.SchemaVersion < Form1 || c.SchemaVersion > SchemaVersion {
		return fmt.Errorf("schemaVersion %d", c.SchemaVersion)
	}
	if c.WorkflowID == "" {
		return errors.New("workflowId is empty")
	}
	n := len(c.Steps)
	for _, l := range c.Loops {
		n += len(l.Body)
	}
	if len(c.Steps) == 0 || n > limits.WorkflowStepsMax {
		return fmt.Errorf("want 1 to %d steps, got %d, of which %d in the main sequence", limits.WorkflowStepsMax, n,
			len(c.Steps))
	}
	return c.checkCapabilities()
}

// checkCapabilities checks that every required capability has a probe step: without one, a
// run would wait for an observation that never arrives.
func (c *Compiled) checkCapabilities() error {
	probed := map[string]bool{}
	_ = c.eachSequence(func(_ string, steps []Step) error {
		for _, s := range steps {
			probed[s.Probe] = true
		}
		return nil
	})
	for _, name := range c.Capabilities.Required {
		if !slices.Contains(builtin.Capabilities(), name) || !probed[name] {
			return fmt.Errorf("capability %q is required, but no step probes it", name)
		}
	}
	return nil
}

// checkSets checks that the lists that represent sets are sorted, as the lookups require, and
// that each of their members is valid.
func (c *Compiled) checkSets() error {
	if err := errors.Join(
		ordered("features", c.Features, func(f Feature) string { return f.FeatureID }),
		ordered("contracts", c.Contracts, func(p contract.Pack) string { return p.ContractRef }),
		ordered("conditions", c.Conditions, func(n NamedCondition) string { return n.ConditionID }),
		ordered("loops", c.Loops, func(l Loop) string { return l.LoopID }),
		ordered("assessments", c.Assessments, func(a contract.Assessment) string { return a.ID }),
		ordered("bindings", c.Bindings, func(b Binding) string { return b.SlotID }),
	); err != nil {
		return err
	}
	for _, p := range c.Contracts {
		if err := p.Validate(); err != nil {
			return fmt.Errorf("contract %q: %w", p.ContractRef, err)
		}
	}
	for _, a := range c.Assessments {
		if err := a.Validate(); err != nil {
			return fmt.Errorf("assessment %q: %w", a.ID, err)
		}
	}
	for _, n := range c.Conditions {
		if err := c.checkNamed(n); err != nil {
			return fmt.Errorf("condition %q: %w", n.ConditionID, err)
		}
	}
	for _, b := range c.Bindings {
		if b.Source != fromDefault && b.Source != fromProject {
			return fmt.Errorf("slot %q: unknown source %q", b.SlotID, b.Source)
		}
	}
	return nil
}

// ordered checks that keys are ascending, distinct and not empty.
func ordered[T any](what string, list []T, key func(T) string) error {
	before := ""
	for _, x := range list {
		if key(x) <= before {
			return fmt.Errorf("%s are not sorted, or contain a duplicate: %q after %q", what, key(x), before)
		}
		before = key(x)
	}
	return nil
}

// checkNamed rejects members that do not belong to the kind of a named condition. Two
// programs could otherwise run one document differently.
func (c *Compiled) checkNamed(n NamedCondition) error {
	_, err := c.checkControl(Control{Kind: n.Kind, ContractRef: n.ContractRef, LoopID: n.LoopID,
		Condition: n.Condition})
	return err
}

// checkControl checks that a control can be evaluated and returns its parsed condition, the
// zero Condition for ByArtifact.
func (c *Compiled) checkControl(control Control) (condition.Condition, error) {
	switch control.Kind {
	case ByArtifact:
		if !control.Condition.IsZero() {
			return condition.Condition{}, errors.New("an artifact decides, but a condition is present as well")
		}
		if _, ok := c.Contract(control.ContractRef); !ok || control.ContractRef != source.LoopControlContract {
			return condition.Condition{}, fmt.Errorf("contract %q cannot decide a loop, or is not embedded",
				control.ContractRef)
		}
		return condition.Condition{}, nil
	case ByContext:
		if control.ContractRef != "" || control.LoopID != "" {
			return condition.Condition{}, errors.New("a condition decides, but a contract is present as well")
		}
		return c.condition(control.Condition)
	}
	return condition.Condition{}, fmt.Errorf("unknown control %q", control.Kind)
}

// indexSteps records the place of each step in c.index. Ids must be unique in the whole
// workflow, bodies included, and no sequence may be empty.
func (c *Compiled) indexSteps() error {
	return c.eachSequence(func(loopID string, steps []Step) error {
		if len(steps) == 0 {
			return errors.New("it has no steps")
		}
		for i, s := range steps {
			if _, twice := c.index[s.StepID]; twice || !reason.ValidStepID(s.StepID) {
				return fmt.Errorf("step id %q is not valid or not unique", s.StepID)
			}
			c.index[s.StepID] = StepPlace{loopID, i}
		}
		return nil
	})
}

// checkNesting checks that every loop is reached from the main sequence through exactly one
// step. Since ids are unique, no loop has two steps, and a loop in a cycle is not reached.
func (c *Compiled) checkNesting() error {
	reached := 0
	for todo := []string{""}; len(todo) > 0; todo = todo[1:] {
		for _, s := range c.Sequence(todo[0]) {
			if s.Type != LoopStep {
				continue
			}
			if _, ok := c.Loop(s.StepID); !ok {
				return fmt.Errorf("the loop of step %q does not exist", s.StepID)
			}
			reached++
			todo = append(todo, s.StepID)
		}
	}
	if reached != len(c.Loops) {
		return fmt.Errorf("of %d loops, %d are reached from the main sequence", len(c.Loops), reached)
	}
	return nil
}
