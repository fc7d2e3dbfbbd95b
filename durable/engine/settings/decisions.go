package settings

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// ConsentToDecision obtains the signature for a decision about the pending step that inputs returns, in a
// store with signers. It returns the caller as the person who signed. mark is that of the run.
//
// Errors: SIGNATURE_REQUIRED, SIGNATURE_REFUSED, POLICY_UNCONFIRMED for a run of other signers, and what
// advance.Decidable refuses.
func (s Settings) ConsentToDecision(ctx context.Context, by ledger.Caller, conf config.Config, mark *event.SignersMark,
	inputs func() (compile.Compiled, advance.Facts, error), d advance.Decision) (given consent.Given, _ ledger.Caller, err error) {
	if err := checkMark(ctx, s, mark); err != nil {
		return given, by, err
	}
	signers := conf.Signers()
	if signers.IsZero() {
		return given, by, checkNoSignature(by)
	}
	w, facts, err := inputs()
	if err == nil {
		_, err = advance.Decidable(w, facts)
	}
	if err == nil {
		facts.Store, err = s.ledger.StoreID(ctx)
	}
	if err != nil {
		return given, by, err
	}
	d.Who.PolicyDigest = conf.PolicyDigest()
	used := func(text canon.Digest) bool { return slices.Contains(advance.SignedTexts(facts), text) }
	return Consented(ctx, by, signers, used, func(ledger.Caller) (consent.Subject, error) {
		return advance.DecisionSubject(facts, d), nil
	})
}

// WithPeople sets the principals of the settings in force in facts, if an attempt needs them: where the
// pending step says who approves it, or how many, or where approvals have to be signed. mark is that of the
// run. POLICY_UNCONFIRMED if a person has to confirm the settings first, or the run is one of other signers.
func (s Settings) WithPeople(ctx context.Context, w compile.Compiled, mark *event.SignersMark, f advance.Facts) (advance.Facts,
	error) {
	if f.Approvals == 0 || f.State.PendingStep() == nil {
		return f, nil
	}
	if err := checkMark(ctx, s, mark); err != nil {
		return f, err
	}
	restricted := func(rule compile.Approval) bool { return len(rule.Approvers) > 0 || rule.Needed() > 1 }
	if !slices.ContainsFunc(interpreter.ApprovalRules(w, f.State), restricted) {
		signed, err := requiresSignatures(ctx, s)
		if err != nil || !signed {
			return f, err
		}
	}
	conf, err := s.ConfirmedAfresh(ctx)
	if err != nil {
		return f, err
	}
	people := conf.People()
	f.People = &people
	f.Store, err = s.ledger.StoreID(ctx)
	return f, err
}
