package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/source"
)

// loop compiles a loop of either spelling and returns the step that represents it. The
// loop's runCondition and requireConfirmation belong to that step: both are evaluated when
// the loop is entered, not in every iteration. The confirmation is requested with the first
// step that is shown after entering.
func (u *unit) loop(s source.PlacedStep, fns functionScopes) Step {
	marker := u.head(s)
	marker.Type = LoopStep
	read := s.Loop
	u.b.loops = append(u.b.loops, Loop{
		LoopID:        marker.StepID,
		Title:         marker.Title,
		Kind:          LoopKind(read.Kind),
		MaxIterations: read.MaxIterations,
		Control:       u.control(marker.StepID, read.Control, s.At),
		Count:         read.Count.AtLine(0),
		Items:         read.Items,
		IterationVar:  read.IterationVar,
		ItemVar:       read.ItemVar,
		IndexVar:      read.IndexVar,
		Body:          u.sequence(s.Body, fns.inside(s.FunctionDefinitions)),
	})
	return u.b.chargeSize(marker)
}

// control compiles the control of a while or until loop and embeds the contract of the
// artifact, and the named condition if the source refers to one; nil for other loops.
func (u *unit) control(loopID string, read *source.Control, at problem.SourceValue) *Control {
	if read == nil {
		return nil
	}
	if config := at.Member("loop"); config.Has("condition") && config.Has("conditionSource") {
		u.b.warn(ConditionBesideSource, loopID) // package source reports it to the author
	}
	out := &Control{Kind: ControlKind(read.Kind), ContractRef: read.ContractRef, LoopID: read.LoopID,
		ConditionID: read.ConditionID}
	if read.Kind == source.ByArtifact {
		u.embed(read.ContractRef, at)
	} else {
		c, _ := condition.Parse(read.Condition, u.report)
		out.Condition = c.Value()
	}
	if id := read.ConditionID; id != "" {
		named := NamedCondition{id, out.Kind, out.ContractRef, out.LoopID, out.Condition}
		if other, twice := u.b.conditions[id]; twice && !same(other, named) {
			u.report.Error(at, "Rename one of the two.",
				"condition %q is defined in two ways in the workflow and its routines", id)
		}
		u.b.conditions[id] = named
	}
	return out
}

// same reports whether two values have the same JSON form.
func same(a, b any) bool {
	x, errX := canon.ValueOf(a)
	y, errY := canon.ValueOf(b)
	return errX == nil && errY == nil && x.Equal(y)
}
