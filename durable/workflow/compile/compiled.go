// Package compile compiles a valid workflow source into the document to which a run is
// pinned: references resolved, templates expanded, sets sorted, identified by the digest of
// its JCS bytes (docs/design.md#compilation). It also decodes such documents, with a check of
// everything on which running them relies, and provides lookups in them.
//
// The package does not read files, look up anything beyond its Library, or decide which step
// of a run comes next. A construct that it cannot compile is an error and is never dropped
// silently. Equal sources have equal documents: texts that it adds are part of workflow
// hashes and must not change. Start reading at Compile, Document and Decode.
package compile

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Document is a compiled workflow in its stored form. The lists of the original
// format are always written. Members added later are left out when empty, so that an
// addition does not change the hash of a workflow that does not use it.
type Document struct {
	SchemaVersion int          `json:"schemaVersion"`
	WorkflowID    string       `json:"workflowId"`
	Name          string       `json:"name"`
	Description   string       `json:"description"`
	Version       string       `json:"version"`
	AgentRole     string       `json:"agentRole,omitzero"`
	Capabilities  Capabilities `json:"capabilities"`
	// The next four are sorted by their ids and are written even if they are empty, as in
	// the original format (docs/design.md#compilation).
	Features   []Feature        `json:"features"`
	Contracts  []contract.Pack  `json:"contracts"`
	Conditions []NamedCondition `json:"conditions"`
	Loops      []Loop           `json:"loops"`
	// Steps is the main sequence in running order. A loop is represented by a step of Type
	// LoopStep with the loop's id.
	Steps            []Step    `json:"steps"`
	CompiledWarnings []Warning `json:"compiledWarnings"`

	// Assessments holds those to which a step refers, sorted by id.
	Assessments []contract.Assessment `json:"assessments,omitzero"`
	// Bindings holds the resolved extension points, sorted by slot id.
	Bindings []Binding `json:"bindings,omitzero"`

	ClarificationPrompts []string `json:"clarificationPrompts,omitzero"`
	// Inputs are required by every step, in addition to the step's own.
	Inputs                 []source.Input      `json:"inputs,omitzero"`
	MetaGuidance           []string            `json:"metaGuidance,omitzero"`
	Preconditions          []string            `json:"preconditions,omitzero"`
	RecommendedPreferences *source.Recommended `json:"recommendedPreferences,omitzero"`
	References             []source.Reference  `json:"references,omitzero"`
}

// Capabilities lists capability names, each list sorted. No name is in two lists.
type Capabilities struct {
	Required  []string `json:"required"`
	Preferred []string `json:"preferred"`
	Disabled  []string `json:"disabled"`
}

// WarningCode is a way in which a compiled workflow deviates from its source, a closed set.
type WarningCode string

// The warning codes.
const (
	// CoordinatorEvalAsConfirmation: a coordinator_eval gate became a confirmation
	// (docs/design.md#requirements-on-the-caller).
	CoordinatorEvalAsConfirmation WarningCode = "coordinator_eval_as_confirmation"
	// ConditionBesideSource: a loop has both condition and conditionSource; the condition is
	// not evaluated.
	ConditionBesideSource WarningCode = "condition_beside_source"
	// ArgumentUnused: a template call has an argument that the template does not use.
	ArgumentUnused WarningCode = "template_argument_unused"
)

// Warning is one deviation. It contains no message, so that rewording a message does not
// change workflow hashes.
type Warning struct {
	Code   WarningCode `json:"code"`
	StepID string      `json:"stepId"`
}

// Compiled is a Document that is ready to run, with conditions and criteria parsed. Only
// Compile and Decode make one. It is immutable and safe for concurrent use.
type Compiled struct {
	Document
	// bytes and hash are computed once, when the document is made: marshalling it for every
	// answer would be slow.
	bytes []byte
	hash  canon.Digest
	index map[string]StepPlace // by step id
}

// StepPlace is the location of a step: in the main sequence, or in the body of a loop.
type StepPlace struct {
	LoopID string // "": the main sequence
	Index  int    // in the sequence or body
}

// Hash returns the workflowHash: SHA-256 of the JCS bytes.
func (c Compiled) Hash() canon.Digest { return c.hash }

// Bytes returns the JCS bytes, the content of the pinned file. They must not be modified.
func (c Compiled) Bytes() []byte { return c.bytes }

// Step returns a step by its id, from the main sequence or a body; false for an unknown id.
func (c Compiled) Step(stepID string) (Step, bool) {
	at, ok := c.index[stepID]
	if !ok {
		return Step{}, false
	}
	return c.Sequence(at.LoopID)[at.Index], true
}

// StepPlace returns the location of a step; false for an unknown id.
func (c Compiled) StepPlace(stepID string) (StepPlace, bool) {
	at, ok := c.index[stepID]
	return at, ok
}

// Sequence returns the body of a loop, or the main sequence for ""; nil for an unknown loop.
func (c Compiled) Sequence(loopID string) []Step {
	if loopID == "" {
		return c.Steps
	}
	l, _ := c.Loop(loopID)
	return l.Body
}

// Loop returns a loop by its id; false for an unknown id.
func (c Compiled) Loop(loopID string) (Loop, bool) {
	i, ok := slices.BinarySearchFunc(c.Loops, loopID,
		func(l Loop, id string) int { return strings.Compare(l.LoopID, id) })
	if !ok {
		return Loop{}, false
	}
	return c.Loops[i], true
}

// Contract returns an embedded contract pack by its ref; false if it is not embedded.
func (c Compiled) Contract(ref string) (contract.Pack, bool) {
	return find(c.Contracts, func(p contract.Pack) bool { return p.ContractRef == ref })
}

// Assessment returns an embedded assessment by its id; false if it is not embedded.
func (c Compiled) Assessment(id string) (contract.Assessment, bool) {
	return find(c.Assessments, func(a contract.Assessment) bool { return a.ID == id })
}

// find returns the first item that is the wanted one; false if none is.
func find[T any](list []T, wanted func(T) bool) (item T, ok bool) {
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return list[i], true
	}
	return item, false
}

// Position returns the index of a step in the main sequence, from 0, and the length of the
// sequence. A step of a body has the index of its outermost loop. Displays show it as a place if
// the workflow is InOrder. ok is false for an unknown id.
func (c Compiled) Position(stepID string) (at, of int, ok bool) {
	place, ok := c.index[stepID]
	for ok && place.LoopID != "" {
		place, ok = c.index[place.LoopID]
	}
	return place.Index, len(c.Steps), ok
}

// InOrder reports whether a step of the main sequence is never followed by one before it, so that
// its index is a place in every run. Otherwise a step that was passed over can come back
// (docs/design.md#selection), and only the number of completed steps says how far a run is.
func (c Compiled) InOrder() bool {
	return !c.Form2() || !slices.ContainsFunc(c.Steps, func(s Step) bool { return !s.RunCondition.IsZero() })
}

// Waits reports whether a step, bodies included, waits until a moment (docs/design.md#waiting).
func (c Compiled) Waits() bool {
	return c.has(func(s Step) bool { return s.Wait != nil })
}

// HasHostSteps reports whether a step, bodies included, is performed by the HTTP host
// (docs/design.md#host-steps).
func (c Compiled) HasHostSteps() bool {
	return c.has(func(s Step) bool { return s.Host != nil })
}

// HasActions reports whether a step, bodies included, runs a command. Such a workflow has to
// be trusted before it runs (docs/design.md#commands-and-trust).
func (c Compiled) HasActions() bool {
	return c.has(func(s Step) bool { return s.Action != nil || len(s.Checks) > 0 })
}

// has reports whether a step, bodies included, is one that is looked for.
func (c Compiled) has(is func(Step) bool) bool {
	return slices.ContainsFunc(c.Steps, is) ||
		slices.ContainsFunc(c.Loops, func(l Loop) bool { return slices.ContainsFunc(l.Body, is) })
}

// Probes reports whether a step finds out about the capability.
func (c Compiled) Probes(capability string) bool {
	return c.has(func(s Step) bool { return s.Probe == capability })
}

// Checks returns the checks of all steps, bodies included.
func (c Compiled) Checks() (out []source.Check) {
	for _, s := range c.Steps {
		out = append(out, s.Checks...)
	}
	for _, l := range c.Loops {
		for _, s := range l.Body {
			out = append(out, s.Checks...)
		}
	}
	return out
}
