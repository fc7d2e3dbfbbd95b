package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// LoopStep is the Type of a step that represents a loop; its id is the loop's id.
const LoopStep = "loop"

// ParallelStep is the Type of a step whose prompt delegates several tasks
// (docs/design.md#loops).
const ParallelStep = "parallel"

// LoopKind is a kind of loop, a closed set (docs/design.md#loops).
type LoopKind string

// The loop kinds.
const (
	While   LoopKind = "while"
	Until   LoopKind = "until"
	For     LoopKind = "for"
	ForEach LoopKind = "forEach"
)

// Loop is one loop with its body. A step of Type LoopStep marks where it runs, in the main
// sequence or in the body of another loop.
type Loop struct {
	LoopID string   `json:"loopId"`
	Title  string   `json:"title"`
	Kind   LoopKind `json:"kind"`
	// MaxIterations is a count, at least 1: iterations 0 to MaxIterations-1 may run
	// (docs/design.md#authoring).
	MaxIterations int64 `json:"maxIterations"`
	// Control decides a while or until loop; nil for other kinds.
	Control *Control `json:"control,omitzero"`
	// Count belongs to a for loop: a number, or the context path of one.
	Count canon.Value `json:"count,omitzero"`
	// Items belongs to a forEach loop: the context path of a list.
	Items string `json:"items,omitzero"`
	// The names of the variables that a body sees: the iteration from 1, the item, and its
	// index from 0. Every loop has the first, a forEach loop all three; "" for a variable
	// whose default name the author gave to another.
	IterationVar string `json:"iterationVar,omitzero"`
	ItemVar      string `json:"itemVar,omitzero"`
	IndexVar     string `json:"indexVar,omitzero"`
	// Body is in running order, which defines bodyIndex.
	Body []Step `json:"body"`
}

// ControlKind is what decides whether a while or until loop continues.
type ControlKind string

// The controls: an artifact of a contract, or a condition over the context.
const (
	ByArtifact ControlKind = "artifact_contract"
	ByContext  ControlKind = "context_variable"
)

// Control decides after each iteration whether another one follows.
type Control struct {
	Kind        ControlKind `json:"kind"`
	ContractRef string      `json:"contractRef,omitzero"` // with ByArtifact
	// LoopID is compared with an artifact's optional loopId; "" matches any.
	LoopID string `json:"loopId,omitzero"`
	// ConditionID is set when the source refers to a named condition.
	ConditionID string      `json:"conditionId,omitzero"`
	Condition   canon.Value `json:"condition,omitzero"` // with ByContext

	parsed condition.Condition // not part of the document
}

// ParsedCondition returns the parsed condition; the zero Condition with ByArtifact.
func (c Control) ParsedCondition() condition.Condition { return c.parsed }

// NamedCondition is a member of the workflow's conditions that a loop refers to. Condition
// is null for kind ByArtifact, ContractRef and LoopID are empty for ByContext.
type NamedCondition struct {
	ConditionID string      `json:"conditionId"`
	Kind        ControlKind `json:"kind"`
	ContractRef string      `json:"contractRef,omitzero"`
	LoopID      string      `json:"loopId,omitzero"`
	Condition   canon.Value `json:"condition,omitzero"`
}

// Feature is a compiler feature that was applied (docs/design.md#compilation), with the
// digest and length of its text. A step into which it was inserted also lists it in Injected.
type Feature struct {
	FeatureID   string       `json:"featureId"`
	ContentHash canon.Digest `json:"contentHash"`
	Bytes       int          `json:"bytes"`
}

// Binding is an extension point with the routine that is bound to it.
type Binding struct {
	SlotID    string `json:"slotId"`
	RoutineID string `json:"routineId"`
	// Source is where the binding comes from: the workflow's default, or the project.
	Source string `json:"source"` // default or project
}
