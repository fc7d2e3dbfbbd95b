package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
)

// Problem is an error or a warning about a workflow file.
type Problem = problem.Problem

// HasErrors reports whether ps contains an error, so that the file cannot be compiled.
//
//go:noinline
func HasErrors(ps []Problem) bool { return problem.HasErrors(ps) }

// Source is a parsed workflow file. Its JSON members are those of the file. When the file
// has errors, only ID, Name, Description and Kind are set, as far as they could be read, so
// that the file can be listed; check Valid before using other fields.
type Source struct {
	// Kind is where the file came from; it decides which ids are accepted.
	Kind SourceKind `json:"-"`
	// Root is the parsed file, for JSON pointers and line numbers.
	Root problem.SourceValue `json:"-"`
	// Valid reports that the file had no errors and all fields below are set.
	Valid bool `json:"-"`

	// Steps is the main sequence in running order: the steps of the file without those that
	// a loop names as its body (docs/design.md#loops).
	Steps []PlacedStep `json:"-"`

	// The other members of the file, required ones first, then in alphabetical order. Values that
	// another package parses, or that only other programs read, are kept as canon values.
	ID                          string           `json:"id"`
	Name                        string           `json:"name"`
	Description                 string           `json:"description"`
	Version                     string           `json:"version"`
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

// Recommended holds the preferences that the author recommends
// (docs/design.md#preferences). An empty field recommends nothing.
type Recommended struct {
	Autonomy   string `json:"recommendedAutonomy,omitzero"`
	RiskPolicy string `json:"recommendedRiskPolicy,omitzero"`
}

// Capabilities lists the capabilities that a workflow requires, prefers or disables
// (docs/design.md#capabilities).
type Capabilities struct {
	Required  []string `json:"required,omitzero"`
	Preferred []string `json:"preferred,omitzero"`
	Disabled  []string `json:"disabled,omitzero"`
}

// Reference names a document outside the workflow. It is shown, never read.
type Reference struct {
	ID            string `json:"id"`
	Title         string `json:"title"`
	Source        string `json:"source"`
	Purpose       string `json:"purpose"`
	Authoritative bool   `json:"authoritative"`
	// ResolveFrom is the root of a relative Source: workspace, the default, or package.
	ResolveFrom string `json:"resolveFrom,omitzero"`
}

// Function is an instruction that is defined once and referred to by several steps.
type Function struct {
	Name       string      `json:"name"`
	Definition string      `json:"definition"`
	Parameters []Parameter `json:"parameters,omitzero"`
	// Scope is workflow, loop or step. It has no effect: the place of the definition counts.
	Scope string `json:"scope,omitzero"`
}

// Parameter describes one parameter of a function, for the performer; arguments are not
// checked against it.
type Parameter struct {
	Name        string        `json:"name"`
	Type        string        `json:"type"`
	Required    bool          `json:"required,omitzero"`
	Description string        `json:"description,omitzero"`
	Enum        []canon.Value `json:"enum,omitzero"`
	Default     canon.Value   `json:"default,omitzero"`
}

// Input is a context key that only the caller can provide and that must be set before a
// step is completed (docs/design.md#requirements-on-the-caller).
type Input struct {
	ContextKey string `json:"contextKey"`
	// Reason is a detail of reason.UserOnlyDependency, such as needs_user_choice.
	Reason      string `json:"reason"`
	Description string `json:"description"`
	// ChoiceKind is set if and only if Reason is needs_user_choice. Choices are the answers
	// to choose from; empty if any text is accepted, or if ChoicesFrom names them.
	ChoiceKind  string       `json:"choiceKind,omitzero"`
	Choices     []string     `json:"choices,omitzero"`
	ChoicesFrom *ChoicesFrom `json:"choicesFrom,omitzero"`
}

// ChoicesFrom is the place of a list of choices: in the result of a step that precedes the one
// with the input, in the same or an enclosing sequence (docs/design.md#typed-answers).
type ChoicesFrom struct {
	Step    string `json:"step"`    // its id; in a compiled workflow that of the compiled step
	Pointer string `json:"pointer"` // RFC 6901, at most limits.PathMax bytes; "": the whole result
}

// ValidPointer reports whether the pointer has the grammar and the size of one.
func (c ChoicesFrom) ValidPointer() bool {
	return jsonPointer.Pattern.MatchString(c.Pointer) && len(c.Pointer) <= jsonPointer.Max
}

// Code returns the reason with which the run blocks while the input is missing.
func (i Input) Code() reason.Code {
	return reason.Code{Category: reason.UserOnlyDependency, Detail: i.Reason}
}
