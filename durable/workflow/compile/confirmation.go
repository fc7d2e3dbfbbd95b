package compile

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// confirmation converts the three forms of requireConfirmation (boolean, gate, condition)
// into one (docs/design.md#requirements-on-the-caller).
func (u *unit) confirmation(stepID string, at problem.SourceValue) Confirmation {
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
		"coordinator_eval becomes a confirmation by a person: Waybill has no evaluator")
	return gate
}

// join combines two conditions with and or or. If one is null, which is always true, it returns
// the other.
func join(word string, a, b canon.Value) canon.Value {
	switch {
	case a.IsNull():
		return b
	case b.IsNull():
		return a
	}
	return canon.OfMembers(canon.Member{Name: word, Value: canon.OfList(a, b)})
}

// stricter combines the gate of a call with that of a step of its template: the result
// waits whenever one of the two does, for an approval if one of them is an approval. An
// approval with a condition and a confirmation without one give an approval without a
// condition: an unnecessary question is safer than a missing one.
func stricter(a, b Confirmation) Confirmation {
	switch {
	case a.Kind == ConfirmNever:
		return b
	case b.Kind == ConfirmNever:
		return a
	}
	// Without a condition on both sides, one of the gates always waits, and so does the result.
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
