package perform

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
)

// errSentBack reports that the person sent the step back: it is pending again, with the reason.
var errSentBack = errors.New("the person sent the step back")

// onlyApproval reports that an attempt was refused for a missing approval
// alone.
func onlyApproval(blockers []reason.Blocker, stepID string) bool {
	return len(blockers) > 0 && !slices.ContainsFunc(blockers, func(b reason.Blocker) bool {
		return b.Code != reason.BlockerUserOnly || b.Pointer != reason.WorkflowStep(stepID)
	})
}

// obtainApproval asks the person at the terminal what they decide about the
// submitted outputs, after showing them. Without a person the run waits with
// RUN_WAITING. Neither --yes nor --notes replaces a decision, in any mode. notes
// are those that the person wants to submit in place of the ones shown: nothing
// is decided about these outputs then. again reports that the step was sent back
// and is performed again.
func (s *stepRun) obtainApproval(ctx context.Context) (notes string, again bool, err error) {
	by := s.caller()
	shown, err := s.Engine.Approvable(ctx, by, s.answer.Position())
	if err != nil || shown.Approved {
		return "", false, err
	}
	if !s.Person.CanConsent() {
		return "", false, s.waitingFault("needs a person's approval of the submitted outputs",
			"Approve it at a terminal with %s.",
			s.approveLine())
	}
	// A person who may not approve is not asked, nor one whose answer does not count without a signature.
	if err := s.Engine.MayDecide(ctx, by, shown, event.Approved); fault.Is(err, fault.DecisionRefused) {
		return "", false, s.waitingFault("needs the approval of other people: "+fault.Of(err).Message,
			"They approve it at a terminal with %s.", s.approveLine())
	} else if fault.Is(err, fault.SignatureRequired) {
		return "", false, s.waitingFault("needs an approval that is signed by one of the signers of this store",
			"Sign it with %s.", append(s.approveLine(), "--sign"))
	} else if err != nil {
		return "", false, err
	}
	shown.Step.Prompt = s.prompt() // as the step shows it
	d, err := AskApproval(ctx, s.Person, shown, Judgement{})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return "", false, s.withIDs(InterruptedAtQuestion(shown, s.approveLine()))
	}
	if err != nil || d.Answer == ports.ApprovalEdit {
		return d.Notes, false, err
	}
	word, decides := d.Word()
	if !decides {
		return "", false, s.waitingFault("is not approved", "Approve it later with %s, or submit other outputs with %s.",
			s.approveLine(), s.submitLine("--notes", "TEXT"))
	}
	by = s.caller() // a decision counts from when it was made
	a, err := s.Engine.Decide(context.WithoutCancel(ctx), by, shown, word, d.Reason)
	if err != nil {
		return "", false, err
	}
	s.answer = a
	switch {
	case word == event.Denied:
		return "", false, s.withIDs(fault.New(fault.RunClosed, "%s was denied; run %s is failed", s.stepPhrase(), s.report.Run).
			Suggest("Start a new run, or see it with %s.", fault.Command{"runs", "show", s.report.Run.String()}))
	case word == event.SentBack:
		s.opts.Notes = nil // they were sent back
		return "", true, nil
	case !a.IsApproved():
		return "", false, s.waitingFault("is approved, and waits for others: "+a.StillNeeded(),
			"They approve it at a terminal with %s.", s.approveLine())
	}
	return "", false, nil
}

// InterruptedAtQuestion is INTERRUPTED for a question about outputs that was not answered, with the command that asks it
// again. The outputs were recorded before it was asked.
func InterruptedAtQuestion(shown engine.Approvable, again fault.Command) *fault.Fault {
	return fault.New(fault.Interrupted, "interrupted at the question about step %q; nothing was decided, and the submitted "+
		"output stays recorded", shown.Step.Title).
		Suggest("Decide with %s.", again)
}

// Judgement is what a person answered to the question about outputs.
type Judgement struct {
	Answer ports.ApprovalAnswer
	Notes  string // other notes, for ApprovalEdit
	Reason string // for a decision but an approval, and its comment
}

// Word returns the decision of an answer, false for one that decides nothing.
func (j Judgement) Word() (word event.DecisionWord, ok bool) {
	word, ok = map[ports.ApprovalAnswer]event.DecisionWord{ports.ApprovalGiven: event.Approved,
		ports.ApprovalSentBack: event.SentBack, ports.ApprovalDenied: event.Denied}[j.Answer]
	return word, ok
}

// AskApproval shows outputs and asks what the person decides about them, until
// the person decides or refuses to, or writes other notes: the answer is
// ApprovalEdit then. A decision that needs a reason comes with one. only is a
// decision that the person chose already, with its reason, which is only
// confirmed; the zero Judgement leaves the choice.
func AskApproval(ctx context.Context, person ports.Person, shown engine.Approvable, only Judgement) (Judgement, error) {
	q := shown.Question()
	q.Decides, q.Reason = only.Answer, only.Reason
	for {
		answer, err := person.Approve(ctx, q)
		out := Judgement{Answer: answer, Reason: only.Reason}
		switch {
		case err != nil:
			return out, err
		case answer == ports.ApprovalEdit:
			out.Notes, err = person.Notes(ctx, ports.NotesQuestion{Draft: shown.Notes, Edit: true})
			if err == nil && (out.Notes == "" || out.Notes == shown.Notes) {
				continue
			}
		case answer == only.Answer || answer == ports.ApprovalGiven || answer == ports.ApprovalRefused:
		case answer == ports.ApprovalSentBack:
			out.Reason, err = person.Ask(ctx, ports.Question{Text: "What has to change?", NoBack: true})
		case answer == ports.ApprovalDenied:
			out.Reason, err = person.Ask(ctx, ports.Question{Text: "Why is it denied? The run ends with this.", NoBack: true})
		}
		return out, err
	}
}
