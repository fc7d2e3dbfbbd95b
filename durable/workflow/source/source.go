package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
)

// Problem is one thing wrong with a workflow file.
type Problem = problem.Problem

// HasErrors reports whether a file with these problems cannot be used.
func HasErrors(ps []Problem) bool { return problem.HasErrors(ps) }

// Source is a workflow file that was read. Its fields are those of the file. When
// the file has errors only ID, Name, Description and Kind are filled, as far as they
// could be read, so that it can be listed.
type Source struct {
	// Kind is where the file came from; it decides which ids it may have.
	Kind SourceKind `json:"-"`
	// Root is the file as it was read, for pointers and lines.
	Root problem.Place `json:"-"`
	// Valid says that there were no errors and everything below is filled.
	Valid bool `json:"-"`

	ID                          string           `json:"id"`
	Name                        string           `json:"name"`
	Description                 string           `json:"description"`
	Version                     string           `json:"version"`
	Steps                       []Step           `json:"steps"`
	About                       string           `json:"about,omitzero"`
	AgentRole                   string           `json:"agentRole,omitzero"`
	Assessments                 canon.Value      `json:"assessments,omitzero"`
	Capabilities                Capabilities     `json:"capabilities,omitzero"`
	ClarificationPrompts        []string         `json:"clarificationPrompts,omitzero"`
	Conditions                  []NamedCondition `json:"conditions,omitzero"`
	Examples                    []string         `json:"examples,omitzero"`
	ExtensionPoints             canon.Value      `json:"extensionPoints,omitzero"`
	Features                    []string         `json:"features,omitzero"`
	FunctionDefinitions         []Function       `json:"functionDefinitions,omitzero"`
	Inputs                      []Input          `json:"inputs,omitzero"`
	MetaGuidance                []string         `json:"metaGuidance,omitzero"`
	MetricsProfile              string           `json:"metricsProfile,omitzero"`
	ModelTier                   string           `json:"modelTier,omitzero"`
	Preconditions               []string         `json:"preconditions,omitzero"`
	RecommendedPreferences      *Recommended     `json:"recommendedPreferences,omitzero"`
	References                  []Reference      `json:"references,omitzero"`
	ValidatedAgainstSpecVersion int              `json:"validatedAgainstSpecVersion,omitzero"`
}

// Recommended are the preferences that the author recommends (locks section 5).
type Recommended struct {
	Autonomy   string `json:"recommendedAutonomy,omitzero"`
	RiskPolicy string `json:"recommendedRiskPolicy,omitzero"`
}

// Capabilities are what a workflow wants of its performer, by how much.
type Capabilities struct {
	Required  []string `json:"required,omitzero"`
	Preferred []string `json:"preferred,omitzero"`
	Disabled  []string `json:"disabled,omitzero"`
}

// Reference points at a document outside; it is shown, never read.
type Reference struct {
	ID            string `json:"id"`
	Title         string `json:"title"`
	Source        string `json:"source"`
	Purpose       string `json:"purpose"`
	Authoritative bool   `json:"authoritative"`
	ResolveFrom   string `json:"resolveFrom,omitzero"` // workspace, which is the default, or package
}

// Function is an instruction that is written once and named in several steps.
type Function struct {
	Name       string      `json:"name"`
	Definition string      `json:"definition"`
	Parameters []Parameter `json:"parameters,omitzero"`
	Scope      string      `json:"scope,omitzero"` // workflow, loop or step
}

// Parameter describes one parameter of a function.
type Parameter struct {
	Name        string        `json:"name"`
	Type        string        `json:"type"`
	Required    bool          `json:"required,omitzero"`
	Description string        `json:"description,omitzero"`
	Enum        []canon.Value `json:"enum,omitzero"`
	Default     canon.Value   `json:"default,omitzero"`
}

// Input is something that only the caller can give: a context key that must be
// there before a step is left (R20).
type Input struct {
	ContextKey  string   `json:"contextKey"`
	Reason      string   `json:"reason"` // a UserOnlyDependencyReason
	Description string   `json:"description"`
	ChoiceKind  string   `json:"choiceKind,omitzero"` // exactly with needs_user_choice
	Choices     []string `json:"choices,omitzero"`
}

// Code is the reason under which the missing input blocks.
func (i Input) Code() reason.Code {
	return reason.Code{Category: reason.UserOnlyDependency, Detail: i.Reason}
}
