package compile

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Step is one compiled step of the main sequence or of a body. Everything is resolved except
// {{path}}, which is filled from the run's context.
type Step struct {
	StepID string `json:"stepId"`
	Title  string `json:"title"`
	// Prompt may be "" if the step has an Action, a Wait or a Host.
	Prompt              string         `json:"prompt"`
	RequireConfirmation Confirmation   `json:"requireConfirmation"`
	Provenance          Provenance     `json:"provenance"`
	Action              *source.Action `json:"action,omitzero"`
	AgentRole           string         `json:"agentRole,omitzero"`
	AskForFiles         bool           `json:"askForFiles,omitzero"`
	// AssessmentRefs lists the assessments that the step requires, Consequences the effects
	// of their levels.
	AssessmentRefs []string      `json:"assessmentRefs,omitzero"`
	Consequences   []Consequence `json:"assessmentConsequences,omitzero"`
	// Checks are performed when the step is handed in, in this order (docs/design.md#checks).
	Checks []source.Check `json:"checks,omitzero"`
	// Functions are sorted by scope, nearest first, then by name.
	Functions []Function `json:"functions,omitzero"`
	Guidance  []string   `json:"guidance,omitzero"`
	// Host is what the HTTP host performs, nil for a step of others.
	Host *hoststep.Step `json:"host,omitzero"`
	// Injected lists the texts that were inserted into the prompt, in prompt order.
	Injected       []Injection     `json:"injected,omitzero"`
	Inputs         []source.Input  `json:"inputs,omitzero"`
	NotesRequired  bool            `json:"notesRequired,omitzero"`
	OutputContract *OutputContract `json:"outputContract,omitzero"`
	// Outputs are the context keys that the command sets, each with the place of its value.
	Outputs map[string]string `json:"outputs,omitzero"`
	// Probe is the capability that this step tests, "" for other steps
	// (docs/design.md#capabilities).
	Probe string `json:"probe,omitzero"`
	// PromptBlocks is the structure from which Prompt was rendered, for inspection only.
	PromptBlocks *PromptBlocks `json:"promptBlocks,omitzero"`
	// PromptFragments are appended to the prompt when their conditions are true.
	PromptFragments []Fragment  `json:"promptFragments,omitzero"`
	RunCondition    canon.Value `json:"runCondition,omitzero"`
	// Type is "", LoopStep or ParallelStep.
	Type               string      `json:"type,omitzero"`
	ValidationCriteria canon.Value `json:"validationCriteria,omitzero"`
	// Wait is the moment until which the step is pending, nil for a step that does not wait.
	Wait *source.Wait `json:"wait,omitzero"`

	// The parsed forms of RunCondition, RequireConfirmation.Condition and
	// ValidationCriteria; not part of the document.
	runs     condition.Condition
	confirms condition.Condition
	rules    criteria.Criteria
}

// ConfirmationKind is the kind of gate before a step, a closed set.
type ConfirmationKind string

// The confirmation kinds. ConfirmIf requires a condition, ConfirmApproval may have one, and
// the others have none.
const (
	ConfirmNever    ConfirmationKind = "never"
	ConfirmAlways   ConfirmationKind = "always"
	ConfirmIf       ConfirmationKind = "condition"
	ConfirmApproval ConfirmationKind = "human_approval"
)

// Confirmation is requireConfirmation in normal form
// (docs/design.md#requirements-on-the-caller).
type Confirmation struct {
	Kind      ConfirmationKind `json:"kind"`
	Condition canon.Value      `json:"condition,omitzero"`
	Approval
}

// Approval says who approves a step, and how many of them (docs/design.md#decisions). The zero value
// is one approval of any person, without an end. Only ConfirmApproval has one.
type Approval struct {
	// Approvers are names of roles and principals; an approval is by a holder of one of them.
	// Empty: any person at a terminal.
	Approvers []string `json:"approvers,omitzero"`
	// Count is the number of approvals by different people, 1 to limits.ApprovalsMax; 0 is 1.
	Count int `json:"count,omitzero"`
	// ExpiresAfter is the period after which an approval does not count any more (package period);
	// "": it has no end.
	ExpiresAfter string `json:"expiresAfter,omitzero"`
	// NotPerformer excludes the accounts that handed in the outputs.
	NotPerformer bool `json:"notPerformer,omitzero"`
}

// IsZero reports an approval by any one person, without an end.
func (a Approval) IsZero() bool {
	return len(a.Approvers) == 0 && a.Count == 0 && a.ExpiresAfter == "" && !a.NotPerformer
}

// Needed is the number of approvals that the step needs, at least 1.
func (a Approval) Needed() int { return max(a.Count, 1) }

// LifetimeMs is how long an approval counts, in milliseconds; 0: it has no end.
func (a Approval) LifetimeMs() int64 {
	ms, _ := period.Parse(a.ExpiresAfter) // a document is checked when it is decoded; "" is 0
	return ms
}

// check refuses what no source compiles to.
func (a Approval) check() error {
	if a.ExpiresAfter != "" {
		if _, err := period.Parse(a.ExpiresAfter); err != nil {
			return fmt.Errorf("expiresAfter %q: %w", a.ExpiresAfter, err)
		}
	}
	if a.Count < 0 || a.Count > limits.ApprovalsMax || len(a.Approvers) > limits.ApproversMax {
		return fmt.Errorf("an approval by %d people of %d roles", a.Count, len(a.Approvers))
	}
	for i, name := range a.Approvers {
		if name == "" || len(name) > limits.ActorRefMax || slices.Contains(a.Approvers[:i], name) {
			return fmt.Errorf("approver %q", name)
		}
	}
	return nil
}

// OutputContract refers to the contract pack that an artifact of the step must satisfy. If
// it is not required, an artifact is checked only if one is sent.
type OutputContract struct {
	ContractRef string `json:"contractRef"`
	Required    bool   `json:"required"`
}

// Fragment is a text that is appended to a prompt if When is true for the context, or always
// if When is null.
type Fragment struct {
	ID   string      `json:"id"`
	Text string      `json:"text"`
	When canon.Value `json:"when,omitzero"`

	holds condition.Condition
}

// Holds reports whether the fragment is shown for the context vars.
func (f Fragment) Holds(vars canon.Value) bool { return f.holds.Eval(vars) }

// Condition returns the parsed When; the zero Condition if there is none.
func (f Fragment) Condition() condition.Condition { return f.holds }

// Consequence keeps a step pending when an assessment has a level.
type Consequence struct {
	AnyEqualsLevel string `json:"anyEqualsLevel"`
	// ForAssessment restricts it to one assessment; "" means any of the step's.
	ForAssessment string `json:"forAssessment,omitzero"`
	Guidance      string `json:"guidance"`
}

// Injection is the origin of a text that was inserted at compile time
// (docs/design.md#authoring).
type Injection struct {
	OriginID    string       `json:"originId"` // a reference, a feature, or prompt:<templateId>@<version>
	ContentHash canon.Digest `json:"contentHash"`
	Bytes       int          `json:"bytes"`
}

// Source is where a step comes from (docs/design.md#compilation).
type Source string

// The sources of steps.
const (
	Authored         Source = "authored"
	TemplateInjected Source = "template_injected"
	FeatureInjected  Source = "feature_injected"
)

// Provenance distinguishes authored from injected steps (docs/design.md#compilation).
// OriginID is the template or feature of an injected step, "" for an authored one.
type Provenance struct {
	Source   Source `json:"source"`
	OriginID string `json:"originId,omitzero"`
}

// Scope is where a function is defined. The nearest definition of a name applies.
type Scope string

// The scopes, nearest first.
const (
	ScopeStep     Scope = "step"
	ScopeLoop     Scope = "loop"
	ScopeWorkflow Scope = "workflow"
)

// Function is the definition of a function that a step refers to.
type Function struct {
	Name       string             `json:"name"`
	Definition string             `json:"definition"`
	Scope      Scope              `json:"scope"`
	Parameters []source.Parameter `json:"parameters,omitzero"`
	// Calls are the arguments of each functionCall, in the order of the source.
	Calls []canon.Value `json:"calls,omitzero"`
}

// PromptBlocks is a prompt in parts, with every part resolved to text.
type PromptBlocks struct {
	Goal           string            `json:"goal,omitzero"`
	Constraints    []string          `json:"constraints,omitzero"`
	Procedure      []string          `json:"procedure,omitzero"`
	OutputRequired map[string]string `json:"outputRequired,omitzero"`
	Verify         []string          `json:"verify,omitzero"`
}

// Condition returns the parsed runCondition; the zero Condition if the step has none.
func (s Step) Condition() condition.Condition { return s.runs }

// GateCondition returns the parsed condition of requireConfirmation; the zero Condition if there
// is none.
func (s Step) GateCondition() condition.Condition { return s.confirms }

// Criteria returns the parsed validationCriteria; the zero Criteria if the step has none.
func (s Step) Criteria() criteria.Criteria { return s.rules }

// Automatic reports whether neither a person nor an agent does the work of the step: it is a command,
// it waits, or the HTTP host performs it.
func (s Step) Automatic() bool { return s.Action != nil || s.Wait != nil || s.Host != nil }

// NeedsConfirmation reports whether guided mode waits for a confirmation before this step.
// vars is the context at the time when the step is shown. Approvals do not count; see
// NeedsApproval.
func (s Step) NeedsConfirmation(vars canon.Value) bool {
	switch s.RequireConfirmation.Kind {
	case ConfirmAlways:
		return true
	case ConfirmIf:
		return s.confirms.Eval(vars)
	}
	return false
}

// NeedsApproval reports whether the step requires a recorded approval by a person, which
// applies in every mode.
func (s Step) NeedsApproval(vars canon.Value) bool {
	return s.RequireConfirmation.Kind == ConfirmApproval && s.confirms.Eval(vars)
}

// InputsOf returns the inputs of s: first those of the workflow, then those of the step, each key
// once.
func (c Compiled) InputsOf(s Step) []source.Input {
	var out []source.Input
	asked := map[string]bool{}
	for _, list := range [][]source.Input{c.Inputs, s.Inputs} {
		for _, in := range list {
			if !asked[in.ContextKey] {
				asked[in.ContextKey] = true
				out = append(out, in)
			}
		}
	}
	return out
}
