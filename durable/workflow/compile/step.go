package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Step is one step of the main sequence with everything resolved that can be
// before a run: only {{path}} waits for the run's context.
type Step struct {
	StepID string `json:"stepId"`
	Title  string `json:"title"`
	// Prompt is "" with an action that explains itself.
	Prompt              string         `json:"prompt"`
	RequireConfirmation Confirmation   `json:"requireConfirmation"`
	Provenance          Provenance     `json:"provenance"`
	Action              *source.Action `json:"action,omitzero"`
	AgentRole           string         `json:"agentRole,omitzero"`
	AskForFiles         bool           `json:"askForFiles,omitzero"`
	// AssessmentRefs name the assessments that are asked for, Consequences what
	// follows from their levels.
	AssessmentRefs []string      `json:"assessmentRefs,omitzero"`
	Consequences   []Consequence `json:"assessmentConsequences,omitzero"`
	// Functions are ordered by scope, nearest first, then by name.
	Functions []Function `json:"functions,omitzero"`
	Guidance  []string   `json:"guidance,omitzero"`
	// Injected lists what was put into the prompt at compile time, in its order.
	Injected       []Injection     `json:"injected,omitzero"`
	Inputs         []source.Input  `json:"inputs,omitzero"`
	NotesRequired  bool            `json:"notesRequired,omitzero"`
	OutputContract *OutputContract `json:"outputContract,omitzero"`
	// Probe is the capability that this step finds out about, "" for other steps (R21).
	Probe string `json:"probe,omitzero"`
	// PromptBlocks are what Prompt was rendered from, for those who inspect it.
	PromptBlocks *PromptBlocks `json:"promptBlocks,omitzero"`
	// PromptFragments are added to the prompt where their condition holds.
	PromptFragments []Fragment  `json:"promptFragments,omitzero"`
	RunCondition    canon.Value `json:"runCondition,omitzero"`
	// Type is "", LoopStep or ParallelStep.
	Type               string      `json:"type,omitzero"`
	ValidationCriteria canon.Value `json:"validationCriteria,omitzero"`

	// What the values above say, parsed once; not part of the document.
	runs     condition.Condition
	confirms condition.Condition
	checks   criteria.Criteria
}

// ConfirmationKind is the closed set of gates in front of a step.
type ConfirmationKind string

// The confirmation kinds. With ConfirmIf the condition is always there, with
// ConfirmApproval it may be.
const (
	ConfirmNever    ConfirmationKind = "never"
	ConfirmAlways   ConfirmationKind = "always"
	ConfirmIf       ConfirmationKind = "condition"
	ConfirmApproval ConfirmationKind = "human_approval"
)

// Confirmation is requireConfirmation in its one normal form (R20).
type Confirmation struct {
	Kind      ConfirmationKind `json:"kind"`
	Condition canon.Value      `json:"condition,omitzero"`
}

// OutputContract names the contract pack that an artifact of the step must satisfy.
// One that is not required is checked where it is there.
type OutputContract struct {
	ContractRef string `json:"contractRef"`
	Required    bool   `json:"required"`
}

// Fragment is text that is added to a prompt where When holds over the context;
// without a condition always.
type Fragment struct {
	ID   string      `json:"id"`
	Text string      `json:"text"`
	When canon.Value `json:"when,omitzero"`

	holds condition.Condition
}

// Holds reports whether the fragment is shown over vars.
func (f Fragment) Holds(vars canon.Value) bool { return f.holds.Eval(vars) }

// Consequence keeps a step pending while an assessment has a level.
type Consequence struct {
	AnyEqualsLevel string `json:"anyEqualsLevel"`
	// ForAssessment narrows it to one assessment, "" is any of the step's.
	ForAssessment string `json:"forAssessment,omitzero"`
	Guidance      string `json:"guidance"`
}

// Injection is where injected text came from (locks section 9).
type Injection struct {
	OriginID    string       `json:"originId"` // a reference, a feature, or prompt:<templateId>@<version>
	ContentHash canon.Digest `json:"contentHash"`
	Bytes       int          `json:"bytes"`
}

// Source is where a step came from (locks section 5).
type Source string

// The sources of steps.
const (
	Authored         Source = "authored"
	TemplateInjected Source = "template_injected"
	FeatureInjected  Source = "feature_injected"
)

// Provenance tells authored steps from injected ones (locks section 5).
type Provenance struct {
	Source   Source `json:"source"`
	OriginID string `json:"originId,omitzero"`
}

// Scope is where a function was defined. The nearest definition of a name counts.
type Scope string

// The scopes, nearest first.
const (
	ScopeStep     Scope = "step"
	ScopeLoop     Scope = "loop"
	ScopeWorkflow Scope = "workflow"
)

// Function is a definition that a step names.
type Function struct {
	Name       string             `json:"name"`
	Definition string             `json:"definition"`
	Scope      Scope              `json:"scope"`
	Parameters []source.Parameter `json:"parameters,omitzero"`
	// Calls are the arguments of each functionCall, in the order of the source.
	Calls []canon.Value `json:"calls,omitzero"`
}

// PromptBlocks are prompt blocks with every part resolved to text.
type PromptBlocks struct {
	Goal           string            `json:"goal,omitzero"`
	Constraints    []string          `json:"constraints,omitzero"`
	Procedure      []string          `json:"procedure,omitzero"`
	OutputRequired map[string]string `json:"outputRequired,omitzero"`
	Verify         []string          `json:"verify,omitzero"`
}

// Condition is the parsed runCondition; the zero Condition when there is none.
func (s Step) Condition() condition.Condition { return s.runs }

// Criteria are the parsed validationCriteria; the zero Criteria when there are none.
func (s Step) Criteria() criteria.Criteria { return s.checks }

// NeedsConfirmation reports whether guided mode waits for a confirmation before
// this step, over the context that holds when it is shown.
func (s Step) NeedsConfirmation(vars canon.Value) bool {
	switch s.RequireConfirmation.Kind {
	case ConfirmAlways:
		return true
	case ConfirmIf:
		return s.confirms.Eval(vars)
	}
	return false
}

// NeedsApproval reports whether a person's recorded approval is required in every mode.
func (s Step) NeedsApproval(vars canon.Value) bool {
	return s.RequireConfirmation.Kind == ConfirmApproval && s.confirms.Eval(vars)
}

// MissingInputs lists the inputs that are declared for s, by the workflow and by
// the step itself, and that vars does not hold. A null counts as not there: it is
// how context forgets a key.
func (c Compiled) MissingInputs(s Step, vars canon.Value) []source.Input {
	var out []source.Input
	asked := map[string]bool{}
	for _, list := range [][]source.Input{c.Inputs, s.Inputs} {
		for _, in := range list {
			if v, _ := vars.Get(in.ContextKey); v.IsNull() && !asked[in.ContextKey] {
				asked[in.ContextKey] = true
				out = append(out, in)
			}
		}
	}
	return out
}
