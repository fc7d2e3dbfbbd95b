package compile

import (
	"errors"
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/condition"
	"github.com/waybill/waybill/durable/criteria"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Decode reads a pinned workflow as strictly as it was written: other bytes for the
// same document are refused. An unknown schemaVersion is STORE_NEWER, the pinned form
// of another program STORE_FOREIGN, anything else that does not fit STORE_CORRUPT.
func Decode(data []byte) (Compiled, error) {
	v, err := canon.Parse(data)
	if err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow is not JSON: %s", err)
	}
	if _, ok := v.Get("sourceKind"); ok {
		return Compiled{}, fault.New(fault.StoreForeign, "the workflow was pinned by another program, in a form that Waybill does not run")
	}
	if version, _ := v.Get("schemaVersion"); version.Kind() == canon.Number && version.Float() > SchemaVersion && version.Float() == math.Trunc(version.Float()) {
		return Compiled{}, fault.New(fault.StoreNewer, "the workflow was compiled in version %v of the format; this binary reads version %d", version.Float(), SchemaVersion)
	}
	var d Document
	if err := canon.UnmarshalExact(data, &d); err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow does not have the form of version %d: %s", SchemaVersion, err)
	}
	c, err := prepare(d)
	if err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow cannot be run: %s", err)
	}
	return c, nil
}

// prepare parses what a document holds in data form and checks what running relies
// on. A document that Compile built passes; one from outside may not.
func prepare(d Document) (c Compiled, err error) {
	c = Compiled{Document: d, index: make(map[string]Place, len(d.Steps))}
	if d.SchemaVersion != SchemaVersion {
		return Compiled{}, fmt.Errorf("schemaVersion %d", d.SchemaVersion)
	}
	if d.WorkflowID == "" {
		return Compiled{}, errors.New("workflowId is empty")
	}
	if len(d.Steps) == 0 || len(d.Steps) > limits.WorkflowStepsMax {
		return Compiled{}, fmt.Errorf("want 1 to %d steps, got %d", limits.WorkflowStepsMax, len(d.Steps))
	}
	for i := range c.Steps {
		s := &c.Steps[i] // prepared in place: whoever hands over d has no other use for it
		if _, twice := c.index[s.StepID]; twice || !reason.ValidStepID(s.StepID) {
			return Compiled{}, fmt.Errorf("step id %q is not valid or stands twice", s.StepID)
		}
		c.index[s.StepID] = Place{Index: i}
		if err := s.prepare(); err != nil {
			return Compiled{}, fmt.Errorf("step %q: %w", s.StepID, err)
		}
	}
	if c.bytes, err = canon.Marshal(d); err != nil {
		return Compiled{}, err
	}
	c.hash = canon.Sum(c.bytes)
	return c, nil
}

// prepare parses the step's own parts; Decode has no source to have checked them.
func (s *Step) prepare() (err error) {
	if !s.RunCondition.IsZero() {
		if s.runs, err = condition.Of(s.RunCondition); err != nil {
			return err
		}
	}
	if !s.ValidationCriteria.IsZero() {
		if s.checks, err = criteria.Of(s.ValidationCriteria); err != nil {
			return err
		}
	}
	if a := s.Action; a != nil && (a.Kind != "command" || len(a.Argv) == 0) {
		return errors.New("an action that is no command")
	}
	if s.Provenance.Source != Authored {
		return fmt.Errorf("unknown provenance %q", s.Provenance.Source)
	}
	return s.prepareConfirmation()
}

// prepareConfirmation also refuses members that do not belong to the kind: two
// readers could otherwise run one document differently.
func (s *Step) prepareConfirmation() (err error) {
	gate := s.RequireConfirmation
	switch gate.Kind {
	case ConfirmNever, ConfirmAlways:
		if !gate.Condition.IsZero() {
			return fmt.Errorf("confirmation %q with a condition", gate.Kind)
		}
		return nil
	case ConfirmIf, ConfirmApproval:
		if gate.Condition.IsZero() && gate.Kind == ConfirmApproval {
			return nil
		}
		s.confirms, err = condition.Of(gate.Condition)
		return err
	}
	return fmt.Errorf("unknown confirmation %q", gate.Kind)
}
