package compile

import (
	"slices"

	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/source"
)

// The compiled forms, the values of schemaVersion (docs/design.md#compiled-forms). Form 2 has
// the members of form 1 and other rules of execution. It is written only for a workflow for
// which the rules differ: any other keeps the document and the hash that it has in form 1.
const (
	Form1 = 1
	Form2 = 2
)

// SchemaVersion is the newest form that this package writes and reads.
const SchemaVersion = Form2

// Form2 reports whether the rules of form 2 apply to runs of the workflow: the comparison of
// conditions, the order of selection, the check of the length of a for or forEach loop on
// entry, the placeholders and outputs of commands, waits, host steps, and the values that inputs with choices accept. Runs
// of a workflow in form 1 keep the rules with which they began.
func (d *Document) Form2() bool { return d.SchemaVersion >= Form2 }

// form returns the form in which a document is written.
func (d *Document) form() int {
	counted := func(l Loop) bool { return l.Kind == For || l.Kind == ForEach }
	conditional := func(l Loop) bool { return l.Control != nil && !l.Control.Condition.IsNull() }
	differs := func(s Step) bool { return s.conditional() || s.valued() }
	body := func(l Loop) bool { return slices.ContainsFunc(l.Body, differs) }
	if slices.ContainsFunc(d.Loops, counted) || slices.ContainsFunc(d.Loops, conditional) ||
		slices.ContainsFunc(d.Steps, differs) || slices.ContainsFunc(d.Loops, body) || slices.ContainsFunc(d.Inputs, chosen) {
		return Form2
	}
	return Form1
}

// chosen reports whether the values of an input are compared with choices.
func chosen(in source.Input) bool { return len(in.Choices) > 0 || in.ChoicesFrom != nil }

// valued reports whether values go into the command of a step or out of it, whether it waits or
// the HTTP host performs it, whether it says who approves it, whether it has checks, or whether an input of it has
// choices.
func (s Step) valued() bool {
	return s.Wait != nil || s.Host != nil || len(s.Checks) > 0 || slices.ContainsFunc(s.Inputs, chosen) || len(s.Outputs) > 0 ||
		!s.RequireConfirmation.Approval.IsZero() || s.Action != nil && len(s.Action.Placeholders()) > 0
}

// conditional reports whether a step has a condition: of itself, its confirmation, a fragment
// of its prompt or a validation rule.
func (s Step) conditional() bool {
	when := func(f Fragment) bool { return !f.When.IsNull() }
	if !s.RunCondition.IsNull() || !s.RequireConfirmation.Condition.IsNull() || slices.ContainsFunc(s.PromptFragments, when) {
		return true
	}
	if s.ValidationCriteria.IsNull() {
		return false
	}
	c, err := criteria.Of(s.ValidationCriteria)
	return err == nil && c.Conditional()
}
