// Package compile turns a valid workflow source into the document that a run is
// pinned to: everything resolved, everything in one order, named by the digest of
// its bytes (locks section 5). It also answers what the engine asks of such a
// document: which step comes next, and why.
//
// It reads no files and looks nothing up. What this version cannot carry out is an
// error, never left out of the document.
package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
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
	// The next four are sorted by their ids and written also when they are empty: the
	// locks name them, and a workflow that does without keeps its hash.
	Features   []Feature        `json:"features"`
	Contracts  []contract.Pack  `json:"contracts"`
	Conditions []NamedCondition `json:"conditions"`
	Loops      []Loop           `json:"loops"`
	// Steps are the main sequence, in running order: loops stand in it as steps of
	// Type LoopStep.
	Steps            []Step    `json:"steps"`
	CompiledWarnings []Warning `json:"compiledWarnings"`

	// Assessments are those that a step refers to, by id.
	Assessments []contract.Assessment `json:"assessments,omitzero"`
	// Bindings are the extension points with what fills them, by slot.
	Bindings []Binding `json:"bindings,omitzero"`

	ClarificationPrompts []string `json:"clarificationPrompts,omitzero"`
	// Inputs are asked of every step; a step may ask for more.
	Inputs                 []source.Input      `json:"inputs,omitzero"`
	MetaGuidance           []string            `json:"metaGuidance,omitzero"`
	Preconditions          []string            `json:"preconditions,omitzero"`
	RecommendedPreferences *source.Recommended `json:"recommendedPreferences,omitzero"`
	References             []source.Reference  `json:"references,omitzero"`
}

// Capabilities are sorted by name.
type Capabilities struct {
	Required  []string `json:"required"`
	Preferred []string `json:"preferred"`
	Disabled  []string `json:"disabled"`
}

// WarningCode is the closed set of what a compiled workflow does otherwise than
// its source says.
type WarningCode string

// The warning codes.
const (
	// CoordinatorEvalAsConfirmation: a coordinator_eval gate became a confirmation (R20).
	CoordinatorEvalAsConfirmation WarningCode = "coordinator_eval_as_confirmation"
	// ConditionBesideSource: a loop has a condition beside its conditionSource; the
	// source decides, the condition is not asked.
	ConditionBesideSource WarningCode = "condition_beside_source"
	// ArgumentUnused: a template call has an argument that nothing in the template uses.
	ArgumentUnused WarningCode = "template_argument_unused"
)

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
	index map[string]Place // step id → where it stands
}

// Place is where a step stands: in the main sequence, or in the body of a loop.
type Place struct {
	LoopID string // "": the main sequence
	Index  int    // in the sequence or body
}

// Hash is the workflowHash: SHA-256 over the JCS bytes.
func (c Compiled) Hash() canon.Digest { return c.hash }

// Bytes are the JCS bytes: the content of the pinned file. They must not be changed.
func (c Compiled) Bytes() []byte { return c.bytes }

// Step finds a step by its id, in the main sequence or in a body.
func (c Compiled) Step(stepID string) (Step, bool) {
	at, ok := c.index[stepID]
	if !ok {
		return Step{}, false
	}
	return c.Sequence(at.LoopID)[at.Index], true
}

// Place says where a step stands.
func (c Compiled) Place(stepID string) (Place, bool) {
	at, ok := c.index[stepID]
	return at, ok
}

// Sequence is the body of a loop, or with "" the main sequence; nil for no such loop.
func (c Compiled) Sequence(loopID string) []Step {
	if loopID == "" {
		return c.Steps
	}
	l, _ := c.Loop(loopID)
	return l.Body
}

// Loop finds a loop by its id.
func (c Compiled) Loop(loopID string) (Loop, bool) {
	i, ok := slices.BinarySearchFunc(c.Loops, loopID,
		func(l Loop, id string) int { return strings.Compare(l.LoopID, id) })
	if !ok {
		return Loop{}, false
	}
	return c.Loops[i], true
}

// Contract finds an embedded contract pack.
func (c Compiled) Contract(ref string) (contract.Pack, bool) {
	i := slices.IndexFunc(c.Contracts, func(p contract.Pack) bool { return p.ContractRef == ref })
	if i < 0 {
		return contract.Pack{}, false
	}
	return c.Contracts[i], true
}

// Assessment finds an embedded assessment.
func (c Compiled) Assessment(id string) (contract.Assessment, bool) {
	i := slices.IndexFunc(c.Assessments, func(a contract.Assessment) bool { return a.ID == id })
	if i < 0 {
		return contract.Assessment{}, false
	}
	return c.Assessments[i], true
}

// Position is the place of a step in the main sequence, from 0, and how many there
// are. A step of a body stands where its outermost loop does.
func (c Compiled) Position(stepID string) (at, of int, ok bool) {
	place, ok := c.index[stepID]
	for ok && place.LoopID != "" {
		place, ok = c.index[place.LoopID]
	}
	return place.Index, len(c.Steps), ok
}

// HasActions reports commands among the steps, bodies included: such a workflow
// needs trust (R24).
func (c Compiled) HasActions() bool {
	acts := func(s Step) bool { return s.Action != nil }
	return slices.ContainsFunc(c.Steps, acts) ||
		slices.ContainsFunc(c.Loops, func(l Loop) bool { return slices.ContainsFunc(l.Body, acts) })
}
