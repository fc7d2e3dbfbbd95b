package compile

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/period"
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
		return Confirmation{Kind: ConfirmIf, Condition: c.Value()}
	}
	gate := Confirmation{Kind: ConfirmAlways}
	if at.Has("condition") {
		gate = Confirmation{Kind: ConfirmIf, Condition: u.condition(at, "condition")}
	}
	if at.Member("kind").Value.Text() == "human_approval" {
		gate.Kind, gate.Approval = ConfirmApproval, approvalOf(at, u.report)
		return gate
	}
	u.b.warn(CoordinatorEvalAsConfirmation, stepID)
	u.report.Warn(at.Member("kind"), `Write "requireConfirmation": true, or kind human_approval.`,
		"coordinator_eval becomes a confirmation by a person: Waybill has no evaluator")
	return gate
}

// approvalOf reads who approves a step.
func approvalOf(at problem.SourceValue, report problem.Report) Approval {
	expires := at.Member("expiresAfter")
	a := Approval{Count: int(at.Member("count").Value.Float()), ExpiresAfter: expires.Value.Text(),
		NotPerformer: at.Member("notPerformer").Value.True()}
	for _, name := range at.Member("approvers").Items() {
		a.Approvers = append(a.Approvers, name.Value.Text())
	}
	slices.Sort(a.Approvers) // a set
	if _, err := period.Parse(a.ExpiresAfter); a.ExpiresAfter != "" && err != nil {
		report.Error(expires, "Write "+period.Like+".", "%q is no period: %v", a.ExpiresAfter, err)
	}
	return a
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
	out := Confirmation{Kind: ConfirmIf, Approval: stricterApproval(a.Approval, b.Approval)}
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

// stricterApproval returns an approval that satisfies both: the larger number, the shorter period,
// and the approvers that both lists have. Lists without a common name are reported by conflict.
func stricterApproval(a, b Approval) Approval {
	out := Approval{Count: max(a.Count, b.Count), NotPerformer: a.NotPerformer || b.NotPerformer,
		ExpiresAfter: cmp.Or(a.ExpiresAfter, b.ExpiresAfter), Approvers: a.Approvers}
	if a.ExpiresAfter != "" && b.ExpiresAfter != "" && b.LifetimeMs() < a.LifetimeMs() {
		out.ExpiresAfter = b.ExpiresAfter
	}
	switch {
	case len(a.Approvers) == 0:
		out.Approvers = b.Approvers
	case len(b.Approvers) > 0:
		out.Approvers = slices.DeleteFunc(slices.Clone(a.Approvers),
			func(name string) bool { return !slices.Contains(b.Approvers, name) })
	}
	return out
}

// conflict reports that two gates name approvers and have none in common, so that no approval
// would satisfy both.
func conflict(a, b Confirmation) bool {
	return len(a.Approvers) > 0 && len(b.Approvers) > 0 && len(stricterApproval(a.Approval, b.Approval).Approvers) == 0
}
