// Package compile turns a valid workflow source into the document that a run is
// pinned to: everything resolved, everything in one order, named by the digest of
// its bytes (locks section 5). It also answers what the engine asks of such a
// document: which step comes next, and why.
//
// It reads no files and looks nothing up. What this version cannot carry out is an
// error, never left out of the document.
package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow"
)

// SchemaVersion is the version of Document that this package writes and reads.
const SchemaVersion = 1

// Document is CompiledWorkflow v1. The lists that the locks name are always
// written; what Waybill adds is left out when empty, so that a later addition
// changes no hash of a workflow that does not use it.
type Document struct {
	SchemaVersion int          `json:"schemaVersion"`
	WorkflowID    string       `json:"workflowId"`
	Name          string       `json:"name"`
	Description   string       `json:"description"`
	Version       string       `json:"version"`
	AgentRole     string       `json:"agentRole,omitzero"`
	Capabilities  Capabilities `json:"capabilities"`
	// The next four are empty in this version. They are written nevertheless: the
	// locks name them, and a workflow that does without keeps its hash when they come.
	Features   []canon.Value `json:"features"`
	Contracts  []canon.Value `json:"contracts"`
	Conditions []canon.Value `json:"conditions"`
	Loops      []canon.Value `json:"loops"`
	// Steps are the main sequence, in the order of the source.
	Steps            []Step    `json:"steps"`
	CompiledWarnings []Warning `json:"compiledWarnings"`

	ClarificationPrompts []string `json:"clarificationPrompts,omitzero"`
	// Inputs are asked of every step; a step may ask for more.
	Inputs                 []workflow.Input      `json:"inputs,omitzero"`
	MetaGuidance           []string              `json:"metaGuidance,omitzero"`
	Preconditions          []string              `json:"preconditions,omitzero"`
	RecommendedPreferences *workflow.Recommended `json:"recommendedPreferences,omitzero"`
	References             []workflow.Reference  `json:"references,omitzero"`
}

// Capabilities are sorted by name.
type Capabilities struct {
	Required  []string `json:"required"` // always empty in this version
	Preferred []string `json:"preferred"`
	Disabled  []string `json:"disabled"`
}

// WarningCode is the closed set of what a compiled workflow does otherwise than
// its source says.
type WarningCode string

// CoordinatorEvalAsConfirmation: a coordinator_eval gate became a confirmation (R20).
const CoordinatorEvalAsConfirmation WarningCode = "coordinator_eval_as_confirmation"

// Warning is one such difference. Its text is not part of it: better words must
// not change a hash.
type Warning struct {
	Code   WarningCode `json:"code"`
	StepID string      `json:"stepId"`
}

// Compiled is a Document that is ready to run: conditions and criteria are parsed,
// bytes and hash are at hand. It is made by Compile and Decode only and is never
// changed.
type Compiled struct {
	Document
	// bytes and hash are kept from when the document was made: marshalling again
	// would give the same, at a cost on every answer.
	bytes []byte
	hash  canon.Digest
	index map[string]int // step id → place in Steps
}

// Hash is the workflowHash: SHA-256 over the JCS bytes.
func (c Compiled) Hash() canon.Digest { return c.hash }

// Bytes are the JCS bytes: the content of the pinned file. They must not be changed.
func (c Compiled) Bytes() []byte { return c.bytes }

// Step finds a step by its id.
func (c Compiled) Step(stepID string) (Step, bool) {
	i, ok := c.index[stepID]
	if !ok {
		return Step{}, false
	}
	return c.Steps[i], true
}

// Position is the place of a step in the main sequence, from 0, and how many there are.
func (c Compiled) Position(stepID string) (at, of int, ok bool) {
	at, ok = c.index[stepID]
	return at, len(c.Steps), ok
}

// HasActions reports commands among the steps: such a workflow needs trust (R24).
func (c Compiled) HasActions() bool {
	for _, s := range c.Steps {
		if s.Action != nil {
			return true
		}
	}
	return false
}
