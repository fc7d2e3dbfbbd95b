// Package warning has the warnings of answers: what a caller should know that caused no refusal
// (docs/design.md#answers). Secrets finds those about secrets in what a call recorded
// (docs/design.md#warnings-about-secrets).
package warning

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Warning informs a caller about something that did not cause a refusal.
type Warning struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Path, Expected and Got belong to ConditionMatchedLoosely: the context path,
	// the value in the condition and the one in the context. Path of
	// OutputUndeclared is the name of the member.
	Path     string      `json:"path,omitzero"`
	Expected canon.Value `json:"expected,omitzero"`
	Got      canon.Value `json:"got,omitzero"`
	// Pointer and Rule belong to SecretSuspected: the place in what the caller sent, cut to
	// limits.SecretPointerBytesMax, and what found it. A name that holds a secret is redacted.
	Pointer string      `json:"pointer,omitzero"`
	Rule    redact.Rule `json:"rule,omitzero"`
	// Count belongs to RefusedRepeatedly: the refused attempts in a row. In the last of many
	// SecretSuspected it is the number of places that are not listed.
	Count int `json:"count,omitzero"`

	// suggestion is the source of Message where that contains commands.
	suggestion fault.Suggestion
}

// Suggest returns a warning whose message contains commands.
func Suggest(code Code, text fault.Suggestion) Warning {
	return Warning{Code: code, Message: text.String(), suggestion: text}
}

// MapCommands returns a copy of warnings with the commands of their messages replaced. The engine does not
// know the flags that select the store of a call (docs/design.md#tokens).
func MapCommands(all []Warning, replace func(fault.Command) fault.Command) []Warning {
	out := slices.Clone(all)
	for i, w := range out {
		if w.suggestion.Format != "" {
			out[i].Message = w.suggestion.MapCommands(replace).String()
		}
	}
	return out
}

// Recorded returns a warning that is recorded with a decision.
func Recorded(w event.DecisionWarning) Warning {
	return Warning{Code: Code(w.Code), Message: w.Message(), Path: w.Path, Expected: w.Expected, Got: w.Got}
}

// Code is the closed set of warnings in answers.
type Code string

// The warning codes.
const (
	// ReplayDiffers: the call is recorded with other content.
	ReplayDiffers Code = "REPLAY_DIFFERS"
	// NotesTruncated: recorded notes were cut at their limit.
	NotesTruncated Code = "NOTES_TRUNCATED"
	// NotConfirmed: the user was asked to confirm the step and did not.
	NotConfirmed Code = "NOT_CONFIRMED"
	// VariableAbsent: the prompt refers to a variable without a value.
	VariableAbsent Code = "VARIABLE_ABSENT"
	// TextTruncated: the prompt is longer than its limit and was cut.
	TextTruncated Code = "TEXT_TRUNCATED"
	// CompiledWarning: the compiler warned about the workflow.
	CompiledWarning Code = "COMPILED_WARNING"
	// ObservationsDropped: an observation exceeded its limits.
	ObservationsDropped Code = "OBSERVATIONS_DROPPED"
	// ConditionMatchedLoosely: a condition that decided the attempt, or the start,
	// took two values for equal that differ in letter case, blanks or type.
	ConditionMatchedLoosely Code = "CONDITION_MATCHED_LOOSELY"
	// OutputUndeclared: the command of the attempt wrote a member that the step
	// does not declare, and it was ignored.
	OutputUndeclared Code = "OUTPUT_UNDECLARED"
	// RefusedRepeatedly: the last attempts at the step were all refused.
	RefusedRepeatedly Code = "REFUSED_REPEATEDLY"
	// CheckedElsewhere: a check of the attempt ran in another folder than the run
	// was started in.
	CheckedElsewhere Code = "CHECKED_ELSEWHERE"
	// SecretSuspected: the call recorded something that redaction would replace.
	SecretSuspected Code = "SECRET_SUSPECTED"
	// WorkflowDrifted: the file from which the run was started is another version now.
	WorkflowDrifted Code = "WORKFLOW_DRIFTED"
	// WorkflowIDLegacy: the id of the started workflow has no namespace.
	WorkflowIDLegacy Code = "WORKFLOW_ID_LEGACY"
	// WorkflowAliasUsed: the started workflow was named by a former id.
	WorkflowAliasUsed Code = "WORKFLOW_ALIAS_USED"
	// RecommendationExceeded: preferences beyond the workflow's recommendation.
	RecommendationExceeded Code = "RECOMMENDATION_EXCEEDED"
)

// Dropped warns of n observations that were not recorded because they exceed their limits
// (docs/design.md#observations).
func Dropped(n int) []Warning {
	if n == 0 {
		return nil
	}
	return []Warning{{Code: ObservationsDropped, Message: "An observation about the workspace was too long to be recorded."}}
}

// deviations say what the compiler did about each of its warnings.
var deviations = map[compile.WarningCode]string{
	compile.CoordinatorEvalAsConfirmation: "has a gate of kind coordinator_eval, which is a confirmation here",
	compile.ConditionBesideSource:         "is a loop with a conditionSource and a condition; the condition is not evaluated",
	compile.ArgumentUnused:                "calls a template with an argument that the template does not use",
}

// Compiled returns the warnings of the compiler about a workflow, in the order in which it has them.
func Compiled(all []compile.Warning) []Warning {
	var out []Warning
	for _, w := range all {
		text, known := deviations[w.Code]
		if !known {
			text = "has the warning " + string(w.Code) // of a later version
		}
		out = append(out, Warning{Code: CompiledWarning, Message: fmt.Sprintf("Step %q %s.", w.StepID, text)})
	}
	return out
}
