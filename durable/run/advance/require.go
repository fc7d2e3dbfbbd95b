package advance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// requirements holds the requirements of a step and everything they are checked against: the
// outputs as they would be after the attempt (docs/design.md#requirements-on-the-caller).
type requirements struct {
	workflow     compile.Compiled
	step         compile.Step
	state        snapshot.State
	vars         canon.Value             // context and loop variables
	choices      map[string]choices.List // of the inputs with choicesFrom, by context key
	given        []string                // context keys set at this node, in order of bytes
	approvals    []decision.State        // what the decisions of people amount to; empty: none is required
	people       *config.People          // of the settings in force; nil for an attempt that is decided again
	notes        string                  // of the attempt, or else the node's current ones
	outputs      []Output                // after the attempt, oldest first
	capabilities map[string]string       // status of strong observations, including this attempt's
	claimed      map[string]bool         // capabilities for which this attempt contains a claim
	earlier      bool                    // see Attempt.Earlier

	found []reason.Unmet    // by the checks so far
	loose []condition.Match // in the conditions that the checks evaluated
}

// unmet finds everything missing or wrong, so that one further attempt can satisfy all of
// it. Approval is checked separately, before.
func (q *requirements) unmet() {
	q.inputs()
	q.notesRule()
	q.contract()
	q.criteria()
	q.assessments()
	q.sideArtifacts()
	q.required()
	q.action()
}

// lacks records one unmet requirement.
//
//go:noinline
func (q *requirements) lacks(code reason.Code, at reason.Pointer, fix, format string, args ...any) {
	q.found = append(q.found, reason.Unmet{Code: code, Pointer: at, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// invalid records one requirement that outputs of a kind do not meet, as in reason.Unmet.
//
//go:noinline
func (q *requirements) invalid(kind string, at reason.Pointer, fix, format string, args ...any) {
	q.found = append(q.found, reason.Unmet{Code: reason.InvalidOutput, Pointer: at, Kind: kind, Message: fmt.Sprintf(format, args...),
		Fix: fix})
}

// artifacts returns the JSON artifacts of a kind, oldest first; "" means all kinds.
func (q *requirements) artifacts(kind string) []canon.Value {
	var out []canon.Value
	for _, o := range q.outputs {
		have, _ := o.JSON.Get("kind")
		if o.Left && (o.Payload.ArtifactKind == command.Kind || o.Payload.ArtifactKind == host.Kind) {
			continue // it is performed again on each branch
		}
		if !o.JSON.IsNull() && (kind == "" || have.Text() == kind) {
			out = append(out, o.JSON)
		}
	}
	return out
}

// fromAttempt returns the artifacts of a kind that this attempt sent. Their ids are zero.
func (q *requirements) fromAttempt(kind string) []canon.Value {
	sent := *q
	sent.outputs = slices.DeleteFunc(slices.Clone(q.outputs), func(o Output) bool { return !o.ID.IsZero() })
	return sent.artifacts(kind)
}

// notesRule requires notes, of this attempt or of an earlier one at the node.
func (q *requirements) notesRule() {
	if q.step.NotesRequired && strings.TrimSpace(q.notes) == "" {
		q.lacks(reason.MissingOutput, reason.OutputContract(reason.NotesRef),
			"Say in notes what was done, decided and found (notesMarkdown, or --notes TEXT).",
			"Step %q requires notes and none were given.", q.step.StepID)
	}
}

// criteria checks the notes against the step's criteria, unless the step has a contract, even
// an optional one: the prompt announces the contract only, and nothing is checked that was
// not announced (docs/design.md#output-requirements).
func (q *requirements) criteria() {
	if q.step.OutputContract != nil {
		return
	}
	q.loose = condition.AddMatches(q.loose, q.step.Criteria().Loose(q.vars))
	failures := q.step.Criteria().Check(q.notes, q.vars)
	if len(failures) == 0 {
		return
	}
	var messages []string
	for _, f := range failures {
		messages = append(messages, f.Message)
	}
	// Missing notes and unsuitable notes have different codes.
	u := reason.Unmet{Code: reason.InvalidOutput, Kind: reason.NotesRef}
	if q.notes == "" {
		u = reason.Unmet{Code: reason.MissingOutput}
	}
	u.Pointer, u.Message = reason.OutputContract(reason.CriteriaRef), "The notes do not meet the step's criteria: "+strings.Join(messages, "; ")
	u.Fix = "Write notes that meet each of them and send them with a new attempt."
	q.found = append(q.found, u)
}

// action requires the result of a command step: of the same argv, and successful.
func (q *requirements) action() {
	if q.step.Action == nil {
		return
	}
	at := reason.WorkflowStep(q.step.StepID)
	results := q.artifacts(command.Kind)
	if len(results) == 0 {
		q.lacks(reason.MissingOutput, at, "Let 'waybill run --run ID' perform it.",
			"Step %q is a command and has no result.", q.step.StepID)
		return
	}
	const again = "Mend the cause and let 'waybill run --run ID' perform the step again."
	// The latest result counts; a retry replaces the earlier one.
	r, err := command.Decode(results[len(results)-1])
	switch {
	case err != nil:
		q.invalid(command.Kind, at, again, "The %s of step %q is not one: %v", command.Kind, q.step.StepID, err)
	// A result of another workflow version, or of another step.
	case r.ArgvDigest != command.ArgvDigest(*q.step.Action):
		q.invalid(command.Kind, at, again, "The %s of step %q is of another command.", command.Kind,
			q.step.StepID)
	case !r.OK():
		q.invalid(command.Kind, at, again, "The command of step %q %s.", q.step.StepID, r.Outcome())
	default:
		q.commandOutputs(r)
	}
}

// commandOutputs requires a value for each output that the step declares: one that was set at this
// node, since an earlier iteration of a loop may have set the same key.
func (q *requirements) commandOutputs(r command.Result) {
	for _, key := range slices.Sorted(maps.Keys(q.step.Outputs)) {
		if _, has := slices.BinarySearch(q.given, key); has {
			continue
		}
		q.invalid(command.Kind, reason.ContextKey(key),
			fmt.Sprintf("Fix the cause and let 'waybill run --run ID' perform the step again, or send the value as "+
				"context: {%q: VALUE}, or --set %s=VALUE. The command does not run again then.", key, key),
			"The command of step %q succeeded, but %s is not set: %s.", q.step.StepID, key, r.WhyUnset(key))
	}
}
