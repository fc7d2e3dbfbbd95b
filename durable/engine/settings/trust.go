package settings

import (
	"context"
	"maps"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// Trusted reads the list of trusted workflow versions, for showing it: the list may not be the one
// that a person confirmed. Errors: STORE_CORRUPT, STORE_NEWER.
func (s Settings) Trusted(ctx context.Context) (trust.List, error) {
	return ReadTrust(ctx, s.controls)
}

// ReadTrust reads the list of trusted workflow versions from the control files of a store.
func ReadTrust(ctx context.Context, controls ports.Controls) (trust.List, error) {
	c, err := controls.Control(ctx, TrustFile)
	if err != nil {
		return trust.List{}, err
	}
	return TrustOf(c)
}

// ConfirmedTrust reads the list of trusted workflow versions for an operation that depends on it.
// Errors: POLICY_UNCONFIRMED as for Confirmed.
func (s Settings) ConfirmedTrust(ctx context.Context) (trust.List, error) {
	list, err := s.Trusted(ctx)
	if err != nil {
		return trust.List{}, unreadable(TrustFile, err)
	}
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err == nil && !last.Trusted.IsZero() { // else nothing is trusted
		err = CheckFeature(ctx, s.controls, last)
	}
	if err != nil {
		return trust.List{}, err
	}
	return list, checkTrusted(list, last)
}

// TrustedBefore reports whether a person trusted a workflow version at any time, in any place, also if
// the trust was revoked since. It reads the audit log. SESSION_UNHEALTHY if that is damaged.
func (s Settings) TrustedBefore(ctx context.Context, hash canon.Digest) (bool, error) {
	return s.ledger.Intended(ctx, audit.Trust, audit.Target{Kind: audit.OfWorkflow, ID: hash.String()})
}

// checkTrusted returns POLICY_UNCONFIRMED unless the list is the one that a person confirmed last.
func checkTrusted(list trust.List, last auditview.Confirmed) error {
	digest, err := list.Digest()
	if err == nil && digest != TrustedOf(last) {
		err = unconfirmed(TrustFile, "the trusted workflows")
	}
	return err
}

// TrustedOf returns the digest of the list that a person confirmed last. A store without a
// confirmation has the digest of the empty list.
func TrustedOf(last auditview.Confirmed) canon.Digest {
	if last.Trusted.IsZero() {
		none, _ := trust.List{}.Digest() // of a constant
		return none
	}
	return last.Trusted
}

// TrustOf decodes the list of trusted workflows from its control file.
func TrustOf(c ports.Control) (trust.List, error) {
	if c.V > trust.Version {
		return trust.List{}, ledger.NewerControl(TrustFile, c.V)
	}
	return trust.Read(c.V, c.Data)
}

// Trust records that a person agreed to the commands of a workflow version in the repository or
// folder root (docs/design.md#commands-and-trust). If the version is trusted there already with the
// same fixed, the first entry is kept and returned.
//
// shown is the list that the person was shown: it is confirmed together with the new entry. nil is
// only accepted where the present list is confirmed; otherwise the error is POLICY_UNCONFIRMED.
// Further errors are those of ChangeConfig.
func (s Settings) Trust(ctx context.Context, by ledger.Caller, w compile.Compiled, root string, fixes trust.Fixed,
	shown *trust.List) (trust.Entry, error) {
	entry := trust.Entry{Actor: by.Actor, AtMs: by.AtMs, Root: root, WorkflowHash: w.Hash(), WorkflowID: w.WorkflowID,
		Fixed: fixes, Commands: int64(len(catalog.Commands(w)))}
	list, err := s.ConfirmedTrust(ctx)
	// Trusted already: no act is recorded.
	if have, ok := list.Of(w.Hash(), root); err == nil && ok && have.Fixed.Equal(fixes) {
		return have, nil
	}
	if shown != nil && fault.Is(err, fault.PolicyUnconfirmed) {
		list, err = s.Trusted(ctx)
	}
	// A list that cannot be written must not leave an intention.
	if err == nil {
		_, err = list.With(entry)
	}
	if err != nil {
		return entry, err
	}
	what := audit.Act{Action: audit.Trust, Target: audit.Target{Kind: audit.OfWorkflow, ID: w.Hash().String()},
		Details: map[string]string{"workflowId": w.WorkflowID, "commands": strconv.FormatInt(entry.Commands, 10),
			"root": root}}
	if !fixes.IsZero() {
		what.Details["pins"], what.Details["programs"] = strconv.Itoa(len(fixes.Pins)), strconv.Itoa(len(fixes.Programs))
	}
	err = s.changeTrust(ctx, by, what, shown, func(by ledger.Caller, l trust.List) (trust.List, error) {
		entry.Actor, entry.AtMs = by.Actor, by.AtMs
		list, err = l.With(entry)
		return list, err
	})
	if err != nil {
		return entry, err
	}
	entry, _ = list.Of(w.Hash(), root) // the entry of a concurrent call, if that was first
	return entry, nil
}

// Revoke removes the trust in a workflow version, in all places, and reports whether there was any.
// Without any, nothing is written and no audit line is made. It takes authority away, so it needs no
// question; but a list that is not confirmed is POLICY_UNCONFIRMED, since the line of the audit log
// would confirm the rest of it.
func (s Settings) Revoke(ctx context.Context, by ledger.Caller, hash canon.Digest) (bool, error) {
	list, err := s.Trusted(ctx)
	if err != nil || !list.Has(hash) {
		return false, err
	}
	what := audit.Act{Action: audit.Untrust, Target: audit.Target{Kind: audit.OfWorkflow, ID: hash.String()},
		Details: map[string]string{}}
	for _, e := range list.Entries {
		if e.WorkflowHash == hash {
			what.Details["workflowId"] = e.WorkflowID
		}
	}
	if _, err = s.ConfirmedTrust(ctx); err != nil {
		return false, err
	}
	return true, s.changeTrust(ctx, by, what, nil, func(_ ledger.Caller, l trust.List) (trust.List, error) {
		return l.Without(hash), nil
	})
}

// changeTrust makes a change of the list under the lock of its file, as an act of the audit log. The
// list must be the confirmed one, or the one that was shown: its digest after the change is recorded,
// which confirms all of it.
func (s Settings) changeTrust(ctx context.Context, by ledger.Caller, what audit.Act, shown *trust.List,
	change func(ledger.Caller, trust.List) (trust.List, error)) error {
	var expected canon.Digest
	plan := func(by ledger.Caller) (audit.Act, canon.Value, error) {
		list, err := s.Trusted(ctx)
		if err == nil {
			list, err = change(by, list)
		}
		if err == nil {
			expected, err = list.Digest()
		}
		what.Details = maps.Clone(what.Details)
		what.Details[audit.DetailTrustedAfter] = expected.String()
		return what, canon.Value{}, err
	}
	return s.act(ctx, by, plan, func(by ledger.Caller) (map[string]string, error) {
		after, err := listFile[trust.List]{TrustFile, trust.Version, TrustOf}.update(ctx, s.controls, ifSigned(by, expected),
			func(now trust.List) error { return s.checkShown(ctx, now, shown) },
			func(l trust.List) (trust.List, error) { return change(by, l) })
		return map[string]string{audit.DetailTrusted: after.String()}, err
	})
}

// checkShown returns POLICY_UNCONFIRMED unless the list is the one that a person confirmed last, or
// the one that was shown.
func (s Settings) checkShown(ctx context.Context, list trust.List, shown *trust.List) error {
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err != nil {
		return err
	}
	if err = checkTrusted(list, last); err == nil || shown == nil {
		return err
	}
	is, err := list.Digest()
	if err != nil {
		return err
	}
	if seen, err := shown.Digest(); err != nil || seen != is {
		return changedMeanwhile()
	}
	return nil
}
