package perform

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
)

// onlyApproval reports that an attempt was refused for a missing approval
// alone.
func onlyApproval(blockers []reason.Blocker, stepID string) bool {
	return len(blockers) > 0 && !slices.ContainsFunc(blockers, func(b reason.Blocker) bool {
		return b.Code != reason.BlockerUserOnly || b.Pointer != reason.WorkflowStep(stepID)
	})
}

// obtainApproval asks the person at the terminal to approve the submitted
// outputs, after showing them. Without a person the run waits with RUN_WAITING.
// Neither --yes nor --notes replaces an approval, in any mode. notes are those
// that the person wants to submit in place of the ones shown: these outputs are
// not approved then.
func (s *stepRun) obtainApproval(ctx context.Context) (notes string, err error) {
	by := s.caller()
	shown, err := s.Engine.Approvable(ctx, by, s.answer.Position())
	if err != nil || shown.Approved {
		return "", err
	}
	if !s.Person.CanConsent() {
		return "", s.waitingFault("needs a person's approval of the submitted outputs",
			"Approve it at a terminal with %s.",
			s.approveLine())
	}
	notes, answer, err := AskApproval(ctx, s.Person, shown)
	if err != nil || answer == ports.ApprovalEdit {
		return notes, err
	}
	if answer != ports.ApprovalGiven {
		return "", s.waitingFault("is not approved", "Approve it later with %s, or submit other outputs with %s.",
			s.approveLine(), s.submitLine("--notes", "TEXT"))
	}
	a, err := s.Engine.ApproveShown(context.WithoutCancel(ctx), by, shown, "")
	if err == nil {
		s.answer = a
	}
	return "", err
}

// AskApproval shows outputs and asks for their approval, until the person gives
// or refuses it, or writes other notes: the answer is ApprovalEdit then.
func AskApproval(ctx context.Context, person ports.Person, shown engine.Approvable) (notes string,
	answer ports.ApprovalAnswer, err error) {
	for {
		answer, err = person.Approve(ctx, ports.ApproveQuestion{Notes: shown.Notes, Results: shown.Artifacts})
		if err != nil || answer != ports.ApprovalEdit {
			return "", answer, err
		}
		notes, err = person.Notes(ctx, ports.NotesQuestion{Draft: shown.Notes, Edit: true})
		if err != nil || notes != "" && notes != shown.Notes {
			return notes, answer, err
		}
	}
}
