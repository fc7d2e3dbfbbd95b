package settings

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
)

// planned returns an act for a caller at its moment, and the values that it changes, for the reader of
// what is signed.
type planned func(by ledger.Caller) (what audit.Act, shown canon.Value, err error)

// fixed is an act that does not depend on its moment.
func fixed(what audit.Act, shown canon.Value) planned {
	return func(ledger.Caller) (audit.Act, canon.Value, error) { return what, shown, nil }
}

// act performs an act that changes what decides who may do what, and that counts only with its outcome
// in the audit log. It requires a person at a terminal; in a store with signers it requires the
// signature of one of them instead, and no terminal.
//
// Errors: RUN_WAITING if the actor is no person, SIGNATURE_REQUIRED and SIGNATURE_REFUSED in a store with
// signers, POLICY_UNCONFIRMED if the act was done and its line could not be recorded.
//
// do gets the caller that plan got last. If it is signed, exactly the digests that the act states may
// result from it.
func (s Settings) act(ctx context.Context, by ledger.Caller, plan planned,
	do func(by ledger.Caller) (map[string]string, error)) error {
	by, moment, what, err := s.consented(ctx, by, plan)
	if err != nil {
		return err
	}
	unrecorded, err := s.ledger.ActOnRecord(ctx, by, what, func() (map[string]string, error) { return do(moment) })
	if err != nil {
		return err
	}
	if unrecorded == nil {
		if slices.Contains(strings.Fields(what.Details[audit.DetailKeys]), string(config.Signers)) {
			_ = addFeature(ctx, s.controls) // the act counts; the next one adds it otherwise
		}
		return nil
	}
	return fault.Wrap(unrecorded, fault.PolicyUnconfirmed,
		"the change was written, but the audit log could not record that it was confirmed: %s",
		fault.Of(unrecorded).Message).
		Suggest("It counts when a person has confirmed it with %s at a terminal.", fault.Command{"config", "confirm"})
}

// consented returns the act with the consent that the store requires, the caller as the log names it, and
// the caller that the act was planned for.
func (s Settings) consented(ctx context.Context, by ledger.Caller, plan planned) (record, moment ledger.Caller,
	what audit.Act, err error) {
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err == nil {
		err = CheckFeature(ctx, s.controls, last)
	}
	if err != nil {
		return by, by, what, err
	}
	if last.HadSigners() {
		_ = addFeature(ctx, s.controls)
	}
	signers := last.Signers()
	if signers.IsZero() {
		if err := checkNoSignature(by); err != nil {
			return by, by, what, err
		}
		what, _, err = plan(by)
		if err == nil && what.Action != audit.Untrust { // which only takes authority away
			err = checkPerson(by)
		}
		return by, by, what, err
	}
	store, err := s.ledger.StoreID(ctx)
	if err != nil {
		return by, by, what, err
	}
	policy := last.PolicyDigest()
	given, record, err := Consented(ctx, by, signers, last.IsUsed, func(by ledger.Caller) (consent.Subject, error) {
		act, shown, err := plan(by)
		what, moment = act, by
		return act.Subject(store.String(), policy, shown), err
	})
	what.Consent, moment.Signer = given, record.Signer
	return record, moment, what, err
}

// Consented obtains the signature of one of the signers over the subject that make returns for a caller
// at its moment. used reports that a text counted before. It returns the consent, and the caller as the
// person who signed, at the moment of the consent.
//
// Errors: SIGNATURE_REQUIRED if the caller brings none, SIGNATURE_REFUSED if the signature does not count.
func Consented(ctx context.Context, by ledger.Caller, signers consent.Signers, used func(canon.Digest) bool,
	make func(ledger.Caller) (consent.Subject, error)) (given consent.Given, _ ledger.Caller, err error) {
	if by.Consents == nil {
		return given, by, Unsigned()
	}
	at := func(atMs int64) ledger.Caller {
		// The record of the act must not depend on who signs, which is not known yet.
		moment := by
		moment.Actor, moment.Assumed, moment.AtMs = event.Actor{Kind: event.Human}, false, atMs
		return moment
	}
	given, err = by.Consents.Consent(ctx, func(atMs int64) (consent.Subject, error) { return make(at(atMs)) })
	if err != nil {
		return given, by, err
	}
	signed := at(given.SignedAtMs())
	subject, err := make(signed)
	if err != nil {
		return given, by, err
	}
	who, err := signers.Check(given, subject, by.AtMs)
	if err != nil {
		return given, by, err
	}
	if used(given.SignedDigest()) {
		return given, by, consent.Refused(consent.WhyUsed, "this signed text counted before, and counts once")
	}
	return given, by.SignedBy(who), nil
}

// checkNoSignature refuses a signature in a store without signers: it would be stored and count nothing.
func checkNoSignature(by ledger.Caller) error {
	if by.Consents == nil {
		return nil
	}
	return NoSigners()
}

// Unsigned is SIGNATURE_REQUIRED for a call without a signature in a store that has signers.
func Unsigned() error {
	return fault.New(fault.SignatureRequired, "this store has signers, and counts only what one of them signed")
}

// NoSigners is SIGNATURE_REFUSED for a signature in a store that has no signers.
func NoSigners() error {
	return consent.Refused(consent.WhySigner, "this store has no signers, so that no signature counts in it").
		Suggest("Set them first with %s at a terminal.", fault.Command{"config", "set", "signers", "@FILE"})
}

// checkPerson returns RUN_WAITING unless the caller is a person.
func checkPerson(by ledger.Caller) error {
	if by.Actor.Kind == event.Human {
		return nil
	}
	return fault.New(fault.RunWaiting, "only a person at a terminal changes or confirms the settings that decide who may do what").
		Suggest("Ask a person to run this at a terminal.")
}
