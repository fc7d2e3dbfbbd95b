package advance

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/command"
	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// unmet is one requirement that the attempt does not satisfy, with its reason:
// the same reason becomes a blocker and a gap.
type unmet struct {
	code    reason.Code
	pointer reason.Pointer
	message string
	fix     string
}

// blocker is u within the budgets of the locks.
func (u unmet) blocker() reason.Blocker {
	return reason.Blocker{
		Code: u.code.Blocker(), Pointer: u.pointer,
		Message:      reason.Clip(u.message, limits.MessageBytesMax),
		SuggestedFix: reason.Clip(u.fix, limits.SuggestedFixBytesMax),
	}
}

// requirements holds what a step asks and what there is to satisfy it: the
// node's current outputs with this attempt's laid over (R20).
type requirements struct {
	workflow compile.Compiled
	step     compile.Step
	vars     canon.Value
	notes    string
	outputs  []canon.Value // JSON artifacts, latest of each kind last
}

func (q requirements) unmet() []unmet {
	var out []unmet
	out = append(out, q.inputs()...)
	out = append(out, q.notesRule()...)
	out = append(out, q.criteria()...)
	out = append(out, q.action()...)
	return append(out, q.approval()...)
}

func (q requirements) inputs() []unmet {
	var out []unmet
	for _, in := range q.workflow.MissingInputs(q.step, q.vars) {
		message := fmt.Sprintf("The input %q is not set: %s", in.ContextKey, in.Description)
		fix := fmt.Sprintf("Ask the person, then send it as context: --set %s=VALUE.", in.ContextKey)
		if len(in.Choices) > 0 {
			fix += " One of: " + strings.Join(in.Choices, ", ") + "."
		}
		out = append(out, unmet{in.Code(), reason.ContextKey(in.ContextKey), message, fix})
	}
	return out
}

func (q requirements) notesRule() []unmet {
	if !q.step.NotesRequired || strings.TrimSpace(q.notes) != "" {
		return nil
	}
	return []unmet{{reason.MissingOutput, reason.OutputContract(reason.NotesRef),
		fmt.Sprintf("Step %q requires notes and none were given.", q.step.StepID),
		"Say in notes what was done, decided and found: --notes TEXT."}}
}

func (q requirements) criteria() []unmet {
	checks := q.step.Criteria()
	if checks.IsZero() {
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
	return []unmet{{code, reason.OutputContract(reason.CriteriaRef),
		"The notes do not meet the step's criteria: " + strings.Join(messages, "; "),
		"Write notes that meet each of them and send them with a new attempt."}}
}

func (q requirements) action() []unmet {
	if q.step.Action == nil {
		return nil
	}
	at := reason.WorkflowStep(q.step.StepID)
	rerun := "Mend the cause and let 'waybill run --run ID' perform the step again."
	for i := len(q.outputs) - 1; i >= 0; i-- {
		kind, _ := q.outputs[i].Get("kind")
		if kind.Text() != command.Kind {
			continue
		}
		r, err := command.Decode(q.outputs[i])
		switch {
		case err != nil:
			return []unmet{{reason.InvalidOutput, at, fmt.Sprintf("The %s of step %q is not one: %v", command.Kind, q.step.StepID, err), rerun}}
		case r.ArgvDigest != command.ArgvDigest(*q.step.Action):
			return []unmet{{reason.InvalidOutput, at, fmt.Sprintf("The %s of step %q is of another command.", command.Kind, q.step.StepID), rerun}}
		case !r.OK():
			return []unmet{{reason.InvalidOutput, at, fmt.Sprintf("The command of step %q %s.", q.step.StepID, r.Says()), rerun}}
		}
		return nil
	}
	return []unmet{{reason.MissingOutput, at, fmt.Sprintf("Step %q is a command and has no result.", q.step.StepID),
		"Let 'waybill run --run ID' perform it."}}
}

// approval: no attempt satisfies a human_approval step by itself (R20).
func (q requirements) approval() []unmet {
	if !q.step.NeedsApproval(q.vars) {
		return nil
	}
	return []unmet{{reason.NeedsApproval, reason.WorkflowStep(q.step.StepID),
		fmt.Sprintf("Step %q needs a person's approval.", q.step.StepID), "A person approves it at a terminal."}}
}
