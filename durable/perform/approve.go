package perform

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
)

// handedIn: what a person has to approve is there, so that the next attempt must
// bring nothing new (R20).
func (t *turn) handedIn() bool { return t.answer.HandedIn() }

// onlyApproval reports an attempt that was refused for want of an approval alone.
func onlyApproval(blockers []reason.Blocker, stepID string) bool {
	for _, b := range blockers {
		if b.Code != reason.BlockerUserOnly || b.Pointer != reason.WorkflowStep(stepID) {
			return false
		}
	}
	return len(blockers) > 0
}

// approval gets what was handed in approved: by whoever sits here, after they were
// shown it, or, where nobody does, later and elsewhere. Neither --yes nor --notes
// stands in for it, in any mode.
func (t *turn) approval(ctx context.Context) error {
	by := engine.Caller{Actor: t.Actor, AtMs: t.NowMs()}
	shown, err := t.Engine.Approvable(ctx, by, t.answer.Position())
	if err != nil || shown.Approved {
		return err
	}
	if !t.Person.Present() {
		return t.waiting("needs a person's approval of what was handed in", "Approve it at a terminal with '%s'.",
			t.ApproveLine(t.report.Run))
	}
	yes, err := t.Person.Approve(ctx, ports.ApproveQuestion{Notes: shown.Notes, Results: shown.Artifacts})
	if err != nil {
		return err
	}
	if !yes {
		return t.waiting("is not approved", "Approve it later with '%s', or hand in something else with '%s'.",
			t.ApproveLine(t.report.Run), t.HandIn(t.report.Run, "--notes", "TEXT"))
	}
	a, err := t.Engine.ApproveShown(context.WithoutCancel(ctx), by, shown, "")
	if err == nil {
		t.answer = a
	}
	return err
}
