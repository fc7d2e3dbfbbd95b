package advance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// requirements holds what a step asks and what there is to satisfy it: the
// node's current outputs with this attempt's laid over (R20).
type requirements struct {
	workflow     compile.Compiled
	step         compile.Step
	state        snapshot.State
	snapshotRef  canon.Digest
	vars         canon.Value // context and loop variables
	approves     bool        // a person's approval is required
	notes        string
	outputs      []Output          // laid over, oldest first
	capabilities map[string]string // strong ones, this attempt's among them
	claimed      map[string]bool   // capabilities that this attempt only claims
}

// unmet lists everything that is missing or wrong, so that one more try is enough.
// What a person has to approve is not among it.
func (q requirements) unmet() []reason.Unmet {
	var out []reason.Unmet
	out = append(out, q.inputs()...)
	out = append(out, q.notesRule()...)
	out = append(out, q.contract()...)
	out = append(out, q.criteria()...)
	out = append(out, q.assessments()...)
	out = append(out, q.asides()...)
	out = append(out, q.required()...)
	return append(out, q.action()...)
}

// artifacts are the laid-over artifacts of a kind, oldest first; "" is any kind.
func (q requirements) artifacts(kind string) []canon.Value {
	var out []canon.Value
	for _, o := range q.outputs {
		have, _ := o.JSON.Get("kind")
		if !o.JSON.IsNull() && (kind == "" || have.Text() == kind) {
			out = append(out, o.JSON)
		}
	}
	return out
}

// brought are the artifacts of a kind that this attempt brings.
func (q requirements) brought(kind string) []canon.Value {
	q.outputs = slices.DeleteFunc(slices.Clone(q.outputs), func(o Output) bool { return !o.ID.IsZero() })
	return q.artifacts(kind)
}

func (q requirements) inputs() []reason.Unmet {
	var out []reason.Unmet
	for _, in := range q.workflow.MissingInputs(q.step, q.vars) {
		message := fmt.Sprintf("The input %q is not set: %s", in.ContextKey, in.Description)
		fix := fmt.Sprintf("Ask the person, then send it as context: {%q: VALUE}, or --set %s=VALUE.", in.ContextKey,
			in.ContextKey)
		if len(in.Choices) > 0 {
			fix += " One of: " + strings.Join(in.Choices, ", ") + "."
		}
		out = append(out, reason.Unmet{Code: in.Code(), Pointer: reason.ContextKey(in.ContextKey), Message: message,
			Fix: fix})
	}
	return out
}

func (q requirements) notesRule() []reason.Unmet {
	if !q.step.NotesRequired || strings.TrimSpace(q.notes) != "" {
		return nil
	}
	return []reason.Unmet{{Code: reason.MissingOutput, Pointer: reason.OutputContract(reason.NotesRef),
		Message: fmt.Sprintf("Step %q requires notes and none were given.", q.step.StepID),
		Fix:     "Say in notes what was done, decided and found (notesMarkdown, or --notes TEXT)."}}
}

// criteria give way to a contract (locks 18.3), also to an optional one: the prompt
// announces the contract alone, and nothing is checked that was not announced.
func (q requirements) criteria() []reason.Unmet {
	checks := q.step.Criteria()
	if checks.IsZero() || q.step.OutputContract != nil {
		return nil
	}
	failures := checks.Check(q.notes, q.vars)
	if len(failures) == 0 {
		return nil
	}
	code := reason.InvalidOutput
	if q.notes == "" {
		code = reason.MissingOutput
	}
	var messages []string
	for _, f := range failures {
		messages = append(messages, f.Message)
	}
	return []reason.Unmet{{Code: code, Pointer: reason.OutputContract(reason.CriteriaRef),
		Message: "The notes do not meet the step's criteria: " + strings.Join(messages, "; "),
		Fix:     "Write notes that meet each of them and send them with a new attempt."}}
}

func (q requirements) action() []reason.Unmet {
	if q.step.Action == nil {
		return nil
	}
	at := reason.WorkflowStep(q.step.StepID)
	wrong := func(code reason.Code, format string, args ...any) []reason.Unmet {
		return []reason.Unmet{{Code: code, Pointer: at, Message: fmt.Sprintf(format, args...),
			Fix: "Mend the cause and let 'waybill run --run ID' perform the step again."}}
	}
	results := q.artifacts(command.Kind)
	if len(results) == 0 {
		return []reason.Unmet{{Code: reason.MissingOutput, Pointer: at,
			Message: fmt.Sprintf("Step %q is a command and has no result.", q.step.StepID),
			Fix:     "Let 'waybill run --run ID' perform it."}}
	}
	r, err := command.Decode(results[len(results)-1])
	switch {
	case err != nil:
		return wrong(reason.InvalidOutput, "The %s of step %q is not one: %v", command.Kind, q.step.StepID, err)
	case r.ArgvDigest != command.ArgvDigest(*q.step.Action):
		return wrong(reason.InvalidOutput, "The %s of step %q is of another command.", command.Kind, q.step.StepID)
	case !r.OK():
		return wrong(reason.InvalidOutput, "The command of step %q %s.", q.step.StepID, r.Says())
	}
	return nil
}

// approval: no attempt satisfies a human_approval step by itself; a person's
// recorded approval of exactly these outputs does (R20).
func (q requirements) approval() []reason.Unmet {
	if !q.approves || ApprovalHolds(q.state.PendingStep().Key(), q.snapshotRef, q.outputs) {
		return nil
	}
	return []reason.Unmet{{Code: reason.NeedsApproval, Pointer: reason.WorkflowStep(q.step.StepID),
		Message: fmt.Sprintf("Step %q needs a person's approval of what was handed in.", q.step.StepID),
		Fix: "A person approves it at a terminal with 'waybill approve RUN'; then send the next attempt without " +
			"new outputs."}}
}
