package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// confirmation brings the three spellings of the source into one form (R20).
func (u *unit) confirmation(stepID string, at problem.Place) Confirmation {
	if at.Value.Kind() != canon.Object {
		if at.Value.True() {
			return Confirmation{Kind: ConfirmAlways}
		}
		return Confirmation{Kind: ConfirmNever}
	}
	if !at.Has("kind") {
		c, _ := condition.Parse(at, u.report)
		return Confirmation{ConfirmIf, c.Value()}
	}
	gate := Confirmation{Kind: ConfirmAlways}
	if at.Has("condition") {
		gate = Confirmation{ConfirmIf, u.condition(at, "condition")}
	}
	if at.Member("kind").Value.Text() == "human_approval" {
		gate.Kind = ConfirmApproval
		return gate
	}
	u.b.warn(CoordinatorEvalAsConfirmation, stepID)
	u.report.Warn(at.Member("kind"), `Write "requireConfirmation": true, or kind human_approval.`,
		"coordinator_eval becomes a confirmation by a person: Waybill has no evaluator of its own")
	return gate
}

// both holds where a and b do; a null holds always.
func both(a, b canon.Value) canon.Value { return join("and", a, b) }

func join(word string, a, b canon.Value) canon.Value {
	switch {
	case a.IsNull():
		return b
	case b.IsNull():
		return a
	}
	return canon.OfMembers(canon.Member{Name: word, Value: canon.OfList(a, b)})
}

// stricter is the gate of a call and of a step behind it: who waits for either
// waits, for an approval if one of the two is. An approval under a condition beside
// a confirmation without one asks always: asking too often is the safe side.
func stricter(a, b Confirmation) Confirmation {
	switch {
	case a.Kind == ConfirmNever:
		return b
	case b.Kind == ConfirmNever:
		return a
	}
	out := Confirmation{Kind: ConfirmIf}
	if a.Kind == ConfirmApproval || b.Kind == ConfirmApproval {
		out.Kind = ConfirmApproval
	}
	if !a.Condition.IsNull() && !b.Condition.IsNull() {
		out.Condition = join("or", a.Condition, b.Condition)
	} else if out.Kind == ConfirmIf {
		out.Kind = ConfirmAlways
	}
	return out
}
