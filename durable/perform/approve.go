package perform

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
)

// outputsSubmitted reports that the outputs to be approved are recorded, so
// that the next attempt must carry none
// (docs/design.md#requirements-on-the-caller).
func (t *stepRun) outputsSubmitted() bool { return t.answer.OutputsSubmitted() }

// onlyApproval reports that an attempt was refused for a missing approval
// alone.
func onlyApproval(blockers []reason.Blocker, stepID string) bool {
	return len(blockers) > 0 && !slices.ContainsFunc(blockers, func(b reason.Blocker) bool {
		return b.Code != reason.BlockerUserOnly || b.Pointer != reason.WorkflowStep(stepID)
	})
}

// obtainApproval asks the person at the terminal to approve the submitted
// outputs, after showing them. Without a person the run waits with RUN_WAITING.
// Neither --yes nor --notes replaces an approval, in any mode.
func (t *stepRun) obtainApproval(ctx context.Context) error {
	by := engine.Caller{Actor: t.Actor, AtMs: t.NowMs()}
	shown, err := t.Engine.Approvable(ctx, by, t.answer.Position())
	if err != nil || shown.Approved {
		return err
	}
	if !t.Person.Present() {
		return t.waitingFault("needs a person's approval of the submitted outputs",
			"Approve it at a terminal with %s.",
			t.ApproveLine(t.report.Run))
	}
	yes, err := t.Person.Approve(ctx, ports.ApproveQuestion{Notes: shown.Notes, Results: shown.Artifacts})
	if err != nil {
		return err
	}
	if !yes {
		return t.waitingFault("is not approved", "Approve it later with %s, or submit other outputs with %s.",
			t.ApproveLine(t.report.Run), t.SubmitLine(t.report.Run, "--notes", "TEXT"))
	}
	a, err := t.Engine.ApproveShown(context.WithoutCancel(ctx), by, shown, "")
	if err == nil {
		t.answer = a
	}
	return err
}
