package source

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// LoopControlContract is the contract of the artifact that decides loops.
const LoopControlContract = "wr.contracts.loop_control"

// The names under which a body sees where it is, unless the loop says otherwise.
const (
	IterationVarDefault = "currentIteration" // from 1
	IndexVarDefault     = "currentIndex"     // from 0
	ItemVarDefault      = "currentItem"
)

// ControlKind is what a while or until listens to.
type ControlKind string

// The controls: an artifact of LoopControlContract, or a condition over the context.
const (
	ByArtifact ControlKind = "artifact_contract"
	ByContext  ControlKind = "context_variable"
)

// Loop is a loop in the one form that both spellings have (R22).
type Loop struct {
	// Kind is while, until, for or forEach.
	Kind          string
	MaxIterations int64 // a count, from 1
	// Control is of a while or until; nil for the others.
	Control *Control
	// Count is of a for: a number, or the context path of one.
	Count canon.Value
	// Items is of a forEach: the context path of a list.
	Items string
	// The variables that the body sees, defaults filled in; "" where this kind has none,
	// or where another variable was given the name of the default.
	IterationVar, ItemVar, IndexVar string
}

// Control decides after an iteration whether there is another.
type Control struct {
	Kind ControlKind
	// ContractRef and LoopID are of ByArtifact. LoopID is what an artifact's optional
	// loopId is matched against, "" matches any.
	ContractRef, LoopID string
	// ConditionID is set where the workflow's list was named.
	ConditionID string
	// Condition is of ByContext, and where it stands.
	Condition problem.Place
}

// NamedCondition is a member of the workflow's conditions, in either spelling of
// its id. Condition is of kind context_variable only, LoopID of loop_control.
type NamedCondition struct {
	ID          string      `json:"id,omitzero"`
	ConditionID string      `json:"conditionId,omitzero"`
	Kind        string      `json:"kind"` // loop_control or context_variable
	LoopID      string      `json:"loopId,omitzero"`
	Condition   canon.Value `json:"condition,omitzero"`
}

// Name is the id in whichever spelling.
func (c NamedCondition) Name() string {
	if c.ID != "" {
		return c.ID
	}
	return c.ConditionID
}

// LoopAt is the loop that a step of type loop describes; false for a place that
// holds none. It is meant for a source without errors, and in others leaves out
// what it cannot read.
func (s Source) LoopAt(step problem.Place) (Loop, bool) {
	if step.Member("type").Value.Text() != "loop" {
		return Loop{}, false
	}
	config := step.Member("loop")
	if !step.Has("loop") {
		l := Loop{Kind: "while", MaxIterations: int64(step.Member("maxIterations").Value.Float()),
			IterationVar: IterationVarDefault}
		l.Control = s.named(step.Member("while"))
		return l, true
	}
	l := Loop{Kind: config.Member("type").Value.Text(),
		MaxIterations: int64(config.Member("maxIterations").Value.Float())}
	named := func(key, otherwise string) string {
		if name := config.Member(key).Value.Text(); name != "" {
			return name
		}
		return otherwise
	}
	l.IterationVar = named("iterationVar", IterationVarDefault)
	switch l.Kind {
	case "while", "until":
		l.Control = s.control(config)
	case "for":
		l.Count = config.Member("count").Value
	case "forEach":
		l.Items = config.Member("items").Value.Text()
		l.ItemVar, l.IndexVar = named("itemVar", ItemVarDefault), named("indexVar", IndexVarDefault)
		l.giveWay(config)
	}
	return l, true
}

// giveWay leaves out each variable that nobody named and whose default is the name
// that the author gave to another: the author's word counts, and there is no doubt.
func (l *Loop) giveWay(config problem.Place) {
	variables := l.variables()
	for _, v := range variables {
		taken := func(other loopVariable) bool { return other.key != v.key && other.name == v.name }
		if config.Member(v.key).Value.Text() != "" || !slices.ContainsFunc(variables, taken) {
			continue
		}
		switch v.key {
		case "iterationVar":
			l.IterationVar = ""
		case "indexVar":
			l.IndexVar = ""
		case "itemVar":
			l.ItemVar = ""
		}
	}
}

// control reads what stands in a loop's own object. conditionSource is the more
// explicit of the two and counts where both stand.
func (s Source) control(config problem.Place) *Control {
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

// named follows a reference into the workflow's conditions; nil where it leads
// nowhere, which is an error of the file.
func (s Source) named(ref problem.Place) *Control {
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

// conditionName is where the id of a named condition stands.
func conditionName(at problem.Place) problem.Place {
	if at.Has("id") {
		return at.Member("id")
	}
	return at.Member("conditionId")
}

// Placed is a step and where it stands.
type Placed struct {
	Step
	At problem.Place
}

// Main is the main sequence in running order: the steps of the file less those that
// a loop has taken by naming them as its body (R22).
func (s Source) Main() []Placed {
	taken := bodies(s.Root).byStep
	var out []Placed
	for i, at := range s.Root.Member("steps").Items() {
		if _, ok := taken[at.Pointer]; !ok {
			out = append(out, Placed{s.Steps[i], at})
		}
	}
	return out
}

// Body is what a loop repeats, in running order, whether it is written out or named;
// nil for a step that is no loop.
func (s Source) Body(loop Placed) []Placed {
	at := loop.At.Member("body")
	if at.Value.Kind() == canon.String {
		for i, step := range s.Root.Member("steps").Items() {
			if step.Member("id").Value.Text() == at.Value.Text() {
				return []Placed{{s.Steps[i], step}}
			}
		}
	}
	var out []Placed
	for _, item := range at.Items() {
		var step Step
		if canon.Decode(item.Value, &step) == nil { // Parse has seen to it
			out = append(out, Placed{step, item})
		}
	}
	return out
}
