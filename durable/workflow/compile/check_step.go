package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/source"
)

// prepare parses the step's conditions and criteria and checks that what it refers to is in
// the document. Documents from Decode were not checked by package source.
func (s *Step) prepare(c *Compiled) (err error) {
	if s.runs, err = c.optionalCondition(s.RunCondition); err != nil {
		return err
	}
	if !s.ValidationCriteria.IsZero() {
		if s.rules, err = criteria.Of(s.ValidationCriteria); err != nil {
			return err
		}
		if !c.Form2() {
			s.rules = s.rules.Strictly()
		}
	}
	for i := range s.PromptFragments {
		f := &s.PromptFragments[i]
		if f.holds, err = c.optionalCondition(f.When); err != nil {
			return fmt.Errorf("fragment %q: %w", f.ID, err)
		}
	}
	if a := s.Action; a != nil && (a.Kind != source.CommandAction || len(a.Argv) == 0) {
		return errors.New("the action is not a command")
	}
	if err := errors.Join(s.checkAutomatic(c), s.checkChoices(c)); err != nil {
		return err
	}
	if len(s.Outputs) > 0 && (s.Action == nil || !c.Form2()) {
		return errors.New("outputs without a command, or in a form that has none")
	}
	return errors.Join(s.checkProvenance(), s.checkType(), s.checkOutputs(c), s.prepareConfirmation(c))
}

// checkAutomatic checks that a wait or a host step can be performed, and that nothing is required of it that
// it does not hand in.
func (s *Step) checkAutomatic(c *Compiled) error {
	what := "a wait"
	switch {
	case s.Wait != nil:
		if _, err := s.Wait.Check(); err != nil {
			return fmt.Errorf("a wait without a moment at which it is over: %w", err)
		}
	case s.Host != nil:
		if err := s.Host.Check(); err != nil {
			return err
		}
		what = "a host step"
	default:
		return nil
	}
	if !c.Form2() || s.Action != nil || s.Type != "" || len(s.Outputs)+len(s.AssessmentRefs) > 0 || s.NotesRequired ||
		s.OutputContract != nil || !s.ValidationCriteria.IsZero() || s.Host != nil && len(s.Checks) > 0 || s.Wait != nil &&
		(s.Host != nil || len(s.Wait.Until) > limits.WaitUntilBytesMax || s.RequireConfirmation.Kind != ConfirmNever) {
		return errors.New(what + " beside what only other steps have, or in a form that has none")
	}
	return nil
}

// optionalCondition is condition for one that may be absent; the zero Condition for null.
func (d *Document) optionalCondition(v canon.Value) (condition.Condition, error) {
	if v.IsZero() {
		return condition.Condition{}, nil
	}
	return d.condition(v)
}

// condition parses a condition, which compares as the form of the document says.
func (d *Document) condition(v canon.Value) (condition.Condition, error) {
	c, err := condition.Of(v)
	if !d.Form2() {
		c = c.Strictly()
	}
	return c, err
}

// checkProvenance checks that exactly the steps that are not authored have an origin.
func (s *Step) checkProvenance() error {
	known := s.Provenance.Source == Authored || s.Provenance.Source == TemplateInjected ||
		s.Provenance.Source == FeatureInjected
	if !known || (s.Provenance.Source == Authored) != (s.Provenance.OriginID == "") {
		return fmt.Errorf("provenance %q of %q", s.Provenance.Source, s.Provenance.OriginID)
	}
	return nil
}

// checkType checks the type. A loop step is never shown, so it must not contain a prompt or
// requirements, which would have no effect.
func (s *Step) checkType() error {
	switch s.Type {
	case "", ParallelStep:
		return nil
	case LoopStep:
		if !same(*s, Step{StepID: s.StepID, Title: s.Title, RequireConfirmation: s.RequireConfirmation,
			Provenance: s.Provenance, RunCondition: s.RunCondition, Type: LoopStep}) {
			return errors.New("a step of type loop has a member that only other steps have")
		}
		return nil
	}
	return fmt.Errorf("unknown type %q", s.Type)
}

// checkOutputs checks that the contracts and assessments that a step requires are embedded
// in the document.
func (s *Step) checkOutputs(c *Compiled) error {
	if o := s.OutputContract; o != nil {
		if _, ok := c.Contract(o.ContractRef); !ok {
			return fmt.Errorf("contract %q is not embedded", o.ContractRef)
		}
	}
	if s.Probe != "" && (!slices.Contains(builtin.Capabilities(), s.Probe) || s.OutputContract == nil ||
		*s.OutputContract != OutputContract{capabilityContract, true}) {
		return fmt.Errorf("a probe of %q that does not require an observation", s.Probe)
	}
	for _, id := range s.AssessmentRefs {
		_, embedded := c.Contract(assessmentContract)
		if _, ok := c.Assessment(id); !ok || !embedded {
			return fmt.Errorf("assessment %q or its contract is not embedded", id)
		}
	}
	for _, follows := range s.Consequences {
		if len(s.AssessmentRefs) == 0 || follows.ForAssessment != "" &&
			!slices.Contains(s.AssessmentRefs, follows.ForAssessment) {
			return fmt.Errorf("a consequence of assessment %q, which the step does not require", follows.ForAssessment)
		}
	}
	return nil
}

// prepareConfirmation parses the condition of a gate and rejects members that do not belong
// to its kind. Two programs could otherwise run one document differently.
func (s *Step) prepareConfirmation(c *Compiled) (err error) {
	gate := s.RequireConfirmation
	if !gate.Approval.IsZero() && (gate.Kind != ConfirmApproval || !c.Form2()) {
		return fmt.Errorf("confirmation %q with members of an approval, or in a form that has none", gate.Kind)
	}
	if err := gate.check(); err != nil {
		return err
	}
	switch gate.Kind {
	case ConfirmNever, ConfirmAlways:
		if !gate.Condition.IsZero() {
			return fmt.Errorf("confirmation %q with a condition", gate.Kind)
		}
		return nil
	case ConfirmIf:
		s.confirms, err = c.condition(gate.Condition)
		return err
	case ConfirmApproval:
		s.confirms, err = c.optionalCondition(gate.Condition)
		return err
	}
	return fmt.Errorf("unknown confirmation %q", gate.Kind)
}
