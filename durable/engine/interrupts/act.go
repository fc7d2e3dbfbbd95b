package interrupts

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	projection "github.com/waybill/waybill/projections/wire"
)

// rejected is the reason of a rejection that has none.
const rejected = "rejected over HTTP"

// act does what an answer says. nil reports that it did; what is on record decides whether it counted.
func (r resolving) act(ctx context.Context, open projection.Interrupt) error {
	at, attempt := positionOf(r.view, open)
	confirms := open.Kind == openwop.ApprovalInterrupt && r.resume.Action != ""
	switch {
	case open.Gate != nil:
		return r.perform(ctx, r.by, at, Work{Answer: r.resume.AnswerOf(r.name()), Expect: attempt})
	case confirms && open.Human:
		return r.decide(ctx, at)
	case confirms && r.resume.Action == hoststep.Reject:
		_, err := r.e.Cancel(ctx, r.by, r.performers, at, engine.CancelRequest{Reason: cmp.Or(r.resume.Reason, rejected), Failed: true})
		return err
	case open.Automatic && open.Kind != openwop.CustomInterrupt:
		w := Work{Confirmed: confirms, Expect: attempt}
		if !confirms {
			w.Context = r.resume.Values
		}
		return r.perform(ctx, r.by, at, w)
	}
	return r.handIn(ctx, open)
}

// request is the work of a step as an attempt sends it.
func (r resolving) request() advance.Request {
	req := advance.Request{Notes: r.resume.Notes, Context: r.resume.Context}
	if r.resume.Action == event.RespondAnswer {
		req.Context = event.MergeContext(req.Context, r.resume.Values)
	}
	for _, v := range r.resume.Artifacts {
		req.Artifacts = append(req.Artifacts, advance.JSONArtifact(v))
	}
	return req
}

// handIn makes the attempt at a step that a person or an agent performs, as any other caller does. RUN_BLOCKED if it was
// refused, and the same is still asked for.
func (r resolving) handIn(ctx context.Context, open projection.Interrupt) error {
	at, attempt := positionOf(r.view, open)
	a, err := r.e.Advance(ctx, r.by, at, attempt, r.request())
	switch {
	case err != nil:
		return err
	case differs(a):
		return fault.New(fault.InterruptResolved, "the interrupt has another answer already; this one was not recorded")
	case len(a.Blockers) > 0 && !a.OutputsSubmitted():
		return fault.New(fault.RunBlocked, "the answer is recorded, and the step lacks something: %s", a.Blockers[0].Message).
			With("blockers", a.Blockers)
	}
	return nil
}

// differs reports that another request is recorded for the attempt.
func differs(a engine.Answer) bool {
	return slices.ContainsFunc(a.Warnings, func(w warning.Warning) bool { return w.Code == warning.ReplayDiffers })
}

// decide records the decision of the signer about a step that a person approves, and continues a step that is approved
// as a person's program does. A step that is approved already needs no second signature.
func (r resolving) decide(ctx context.Context, at engine.Position) error {
	word := map[string]event.DecisionWord{hoststep.Accept: event.Approved, hoststep.Reject: event.Denied,
		hoststep.Refine: event.SentBack}[r.resume.Action]
	a, err := r.e.Rehydrate(ctx, at)
	if err != nil {
		return err
	}
	if word != event.Approved || !a.IsApproved() {
		if r.consents == nil {
			return fault.New(fault.InterruptForbidden, "a person decides about this step: the answer needs the signature of one "+
				"of the signers of the store")
		}
		by, reason := r.by, r.resume.Reason
		by.Consents = r.consents
		if word == event.Denied {
			reason = cmp.Or(reason, rejected)
		}
		if a, err = r.e.Decide(ctx, by, engine.Approvable{Position: at}, word, reason); err != nil {
			return err
		}
	}
	if word != event.Approved || !a.IsApproved() || r.view.Open.Automatic || !a.OutputsSubmitted() {
		return nil // the run ended, others have to approve, or the performer continues
	}
	_, err = r.e.Advance(ctx, r.by, a.Position(), a.AttemptID, advance.Request{})
	return err
}

// same reports whether the answer is the one that resolved an interrupt.
func (r resolving) same(ctx context.Context, of projection.Resolution) (bool, error) {
	switch {
	case of.Gate != nil:
		return slices.ContainsFunc(of.Answers, func(a event.Response) bool {
			return a.By == r.name() && a.Digest == r.resume.Digest
		}), nil
	case of.Kind == openwop.ApprovalInterrupt && (of.Human || of.Automatic):
		return r.resume.Action == hoststep.Accept && of.Accepted, nil
	case of.Automatic && of.Kind == openwop.ClarificationInterrupt:
		return r.answersEqual(of), nil
	}
	// The attempt is on record, so that its repetition records nothing.
	at, _ := positionOf(r.view, of.Interrupt)
	a, err := r.e.Advance(ctx, r.by, at, of.Attempt, r.request())
	return !differs(a), err
}

// answersEqual compares the answers with the recorded ones, both without secrets.
func (r resolving) answersEqual(of projection.Resolution) bool {
	given := redact.Value(r.resume.Values, nil)
	for _, q := range of.Questions {
		mine, _ := given.Get(q.Key)
		recorded, _ := of.Given.Get(q.Key)
		if string(mine.JCS()) != string(recorded.JCS()) {
			return false
		}
	}
	return true
}

// signed brings the consent that came with an answer. It implements ledger.Consents.
type signed struct {
	text      canon.Value
	signature string
}

// consentOf is the consent that came with an answer, nil without one.
func consentOf(in openwop.Resolution) ledger.Consents {
	if in.Signature == "" {
		return nil
	}
	return signed{in.Signed, in.Signature}
}

// Consent implements ledger.Consents.
func (s signed) Consent(_ context.Context, make func(atMs int64) (consent.Subject, error)) (consent.Given, error) {
	return consent.Choose([][]byte{s.text.JCS()}, s.signature, make)
}
