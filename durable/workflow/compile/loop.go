package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// LoopStep is the Type of a step that stands for a loop: its id is the loop's.
const LoopStep = "loop"

// ParallelStep is the Type of a step that hands out several tasks in one prompt (R22).
const ParallelStep = "parallel"

// LoopKind is the closed set of loops. Both spellings of the source compile to it (R22).
type LoopKind string

// The loop kinds.
const (
	While   LoopKind = "while"
	Until   LoopKind = "until"
	For     LoopKind = "for"
	ForEach LoopKind = "forEach"
)

// Loop is one loop with its body. A step of Type LoopStep stands where it runs:
// in the main sequence, or in the body of another loop.
type Loop struct {
	LoopID string   `json:"loopId"`
	Title  string   `json:"title"`
	Kind   LoopKind `json:"kind"`
	// MaxIterations is a count: iterations 0 to MaxIterations-1 may run (locks section 9).
	MaxIterations int64 `json:"maxIterations"`
	// Control decides a while or until; nil for the others.
	Control *Control `json:"control,omitzero"`
	// Count is a number, or the context path of one; of a for.
	Count canon.Value `json:"count,omitzero"`
	// Items is the context path of a list; of a forEach.
	Items string `json:"items,omitzero"`
	// The names under which a body sees where it is: the iteration from 1, the
	// item, its index from 0. Every loop has the first, a forEach all, less those whose
	// default name the author gave to another.
	IterationVar string `json:"iterationVar,omitzero"`
	ItemVar      string `json:"itemVar,omitzero"`
	IndexVar     string `json:"indexVar,omitzero"`
	// Body is in running order, which defines bodyIndex.
	Body []Step `json:"body"`
}

// ControlKind is what a while or until listens to.
type ControlKind string

// The controls: an artifact of a contract, or a condition over the context.
const (
	ByArtifact ControlKind = "artifact_contract"
	ByContext  ControlKind = "context_variable"
)

// Control decides after an iteration whether there is another.
type Control struct {
	Kind        ControlKind `json:"kind"`
	ContractRef string      `json:"contractRef,omitzero"` // with ByArtifact
	// LoopID is what an artifact's optional loopId is matched against; "" matches any.
	LoopID string `json:"loopId,omitzero"`
	// ConditionID is set when the condition was named in the workflow's list.
	ConditionID string      `json:"conditionId,omitzero"`
	Condition   canon.Value `json:"condition,omitzero"` // with ByContext

	holds condition.Condition
}

// Holds is the parsed condition; the zero Condition with ByArtifact.
func (c Control) Holds() condition.Condition { return c.holds }

// NamedCondition is a member of the workflow's conditions list. One of kind
// ByArtifact has no condition.
type NamedCondition struct {
	ConditionID string      `json:"conditionId"`
	Kind        ControlKind `json:"kind"`
	ContractRef string      `json:"contractRef,omitzero"`
	LoopID      string      `json:"loopId,omitzero"`
	Condition   canon.Value `json:"condition,omitzero"`
}

// Feature is a compiler feature that was applied (locks section 5), with the digest
// and length of what it says. Where it was put into a step, the step says so too.
type Feature struct {
	FeatureID   string       `json:"featureId"`
	ContentHash canon.Digest `json:"contentHash"`
	Bytes       int          `json:"bytes"`
}

// Binding is an extension point with the routine that fills it.
type Binding struct {
	SlotID    string `json:"slotId"`
	RoutineID string `json:"routineId"`
	// Source says who chose: the workflow's default, or the project.
	Source string `json:"source"` // default or project
}
