package source

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// LoopControlContract is the contract of the artifact that decides loops.
const LoopControlContract = "wr.contracts.loop_control"

// The default names of the variables that a loop sets for its body.
const (
	IterationVarDefault = "currentIteration" // from 1
	IndexVarDefault     = "currentIndex"     // from 0
	ItemVarDefault      = "currentItem"
)

// ControlKind is what decides whether a while or until loop continues.
type ControlKind string

// The control kinds: an artifact of LoopControlContract, or a condition over the context.
const (
	ByArtifact ControlKind = "artifact_contract"
	ByContext  ControlKind = "context_variable"
)

// Loop describes the control of a loop, in one form for both spellings of the file
// (docs/design.md#loops).
type Loop struct {
	// Kind is while, until, for or forEach.
	Kind          string
	MaxIterations int64 // at least 1
	// Control decides a while or until loop; nil for other kinds.
	Control *Control
	// Count belongs to a for loop: a number, or the context path of one.
	Count canon.Value
	// Items belongs to a forEach loop: the context path of a list.
	Items string
	// The names of the variables that the body sees, defaults applied. "" where the kind
	// has no such variable, or where another variable was given the default's name.
	IterationVar, ItemVar, IndexVar string
}

// Control decides after each iteration whether another one follows.
type Control struct {
	Kind ControlKind
	// ContractRef and LoopID belong to ByArtifact. LoopID is compared with an artifact's
	// optional loopId; "" matches any.
	ContractRef, LoopID string
	// ConditionID is set when the control refers to a member of the workflow's conditions.
	ConditionID string
	// Condition belongs to ByContext: the condition's value and its place in the file.
	Condition problem.SourceValue
}

// NamedCondition is a member of the workflow's conditions. The id is written as id or as
// conditionId. Condition is set for kind context_variable only, LoopID for loop_control.
type NamedCondition struct {
	ID          string      `json:"id,omitzero"`
	ConditionID string      `json:"conditionId,omitzero"`
	Kind        string      `json:"kind"` // loop_control or context_variable
	LoopID      string      `json:"loopId,omitzero"`
	Condition   canon.Value `json:"condition,omitzero"`
}

// Name returns the id, from whichever of the two members has it.
func (c NamedCondition) Name() string { return cmp.Or(c.ID, c.ConditionID) }

// LoopAt reads the loop that a step of type loop describes; false for other steps. The
// source should be valid. In an invalid one the members that cannot be read are left
// empty, and Control may be nil for a while loop.
func (s Source) LoopAt(step problem.SourceValue) (Loop, bool) {
	if step.Member("type").Value.Text() != "loop" {
		return Loop{}, false
	}
	config := step.Member("loop")
	// The short form is a while loop with a named condition.
	if !step.Has("loop") {
		l := Loop{Kind: "while", MaxIterations: int64(step.Member("maxIterations").Value.Float()),
			IterationVar: IterationVarDefault}
		l.Control = s.named(step.Member("while"))
		return l, true
	}
	l := Loop{Kind: config.Member("type").Value.Text(),
		MaxIterations: int64(config.Member("maxIterations").Value.Float())}
	name := func(key string) string { return config.Member(key).Value.Text() }
	l.IterationVar = cmp.Or(name("iterationVar"), IterationVarDefault)
	switch l.Kind {
	case "while", "until":
		l.Control = s.control(config)
	case "for":
		l.Count = config.Member("count").Value
	case "forEach":
		l.Items = config.Member("items").Value.Text()
		l.ItemVar = cmp.Or(name("itemVar"), ItemVarDefault)
		l.IndexVar = cmp.Or(name("indexVar"), IndexVarDefault)
		l.dropShadowedDefaults(config)
	}
	return l, true
}

// dropShadowedDefaults removes each variable that has its default name while the author
// gave the same name to another variable. The explicit name takes precedence, so no name
// has two meanings in the body.
func (l *Loop) dropShadowedDefaults(config problem.SourceValue) {
	for _, own := range []struct {
		key  string
		name *string
	}{{"iterationVar", &l.IterationVar}, {"indexVar", &l.IndexVar}, {"itemVar", &l.ItemVar}} {
		taken := func(other loopVariable) bool { return other.key != own.key && other.name == *own.name }
		if config.Member(own.key).Value.Text() == "" && slices.ContainsFunc(l.variables(), taken) {
			*own.name = ""
		}
	}
}

// control reads the control of a while or until from the loop object. When both condition
// and conditionSource are present, conditionSource decides.
func (s Source) control(config problem.SourceValue) *Control {
	source := config.Member("conditionSource")
	if !config.Has("conditionSource") {
		if condition := config.Member("condition"); !condition.Has("kind") {
			return &Control{Kind: ByContext, Condition: condition}
		}
		return s.named(config.Member("condition"))
	}
	switch source.Member("kind").Value.Text() {
	case "condition_ref":
		return s.named(source)
	case "context_variable":
		return &Control{Kind: ByContext, Condition: source.Member("condition")}
	}
	return &Control{Kind: ByArtifact, ContractRef: source.Member("contractRef").Value.Text(),
		LoopID: source.Member("loopId").Value.Text()}
}

// named resolves a condition reference in the workflow's conditions; nil for an unknown
// id, which checkRef reports as an error of the file.
func (s Source) named(ref problem.SourceValue) *Control {
	id := ref.Member("conditionId").Value.Text()
	for _, at := range s.Root.Member("conditions").Items() {
		if conditionName(at).Value.Text() != id || id == "" {
			continue
		}
		if at.Member("kind").Value.Text() == "loop_control" {
			return &Control{Kind: ByArtifact, ContractRef: LoopControlContract,
				LoopID: at.Member("loopId").Value.Text(), ConditionID: id}
		}
		return &Control{Kind: ByContext, ConditionID: id, Condition: at.Member("condition")}
	}
	return nil
}

// conditionName returns the place of a named condition's id, in either spelling.
func conditionName(at problem.SourceValue) problem.SourceValue {
	if at.Has("id") {
		return at.Member("id")
	}
	return at.Member("conditionId")
}

// PlacedStep is a step together with its place in the file.
type PlacedStep struct {
	Step
	At problem.SourceValue
	// Action, Wait and Host are the kinds of actions; at most one is not nil.
	Action *Action
	Wait   *Wait
	Host   *hoststep.Step
	Loop   *Loop // how a step of type loop repeats; nil for other steps
	// Body is what a loop repeats, in running order, whether the file has a list there or
	// the id of a step.
	Body []PlacedStep
}
