package learning

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/projections/proposals"
)

// decision is the state under the lock that a decision is made about.
type decision struct {
	authority
	store id.Store
	all   *proposals.Log
	one   *proposals.Proposal
	at    proposal.At
}

// gate evaluates the approvals of the last revision.
func (d decision) gate() proposal.Gate { return gateOf(d.policy, d.one) }

// gateOf evaluates the approvals of the last revision of a proposal. The policy decides about open
// proposals. Of the others, what was recorded counts under any policy: of an applied one the approvals
// by which it was applied, and else each person's that no revision voided.
func gateOf(policy proposal.Policy, one *proposals.Proposal) proposal.Gate {
	if one.State.Open() {
		return policy.Gate(one.Last().Artifact.SHA256, one.PolicyApprovals())
	}
	g := proposal.Gate{Role: policy.ApproverRole, Want: policy.Quorum}
	if applied, ok := one.Activation(); ok {
		g.Approvals, g.Have = applied.ApprovalIDs, int64(len(applied.ApprovalIDs))
		return g
	}
	people := map[string]bool{}
	for _, a := range one.Approvals {
		if a.Void == "" && !people[a.Principal] {
			people[a.Principal] = true
			g.Approvals = append(g.Approvals, a.ApprovalID)
			g.Have++
		}
	}
	return g
}

// authority is what a caller may do in a store.
type authority struct {
	policy proposal.Policy
	caller proposal.Caller
	// unconfirmed is why no decision that depends on the policy may be made, nil if it may.
	unconfirmed error
}

// authorityOf reads the policy in force for a caller. CAPABILITY_NOT_PROVIDED if proposals are turned
// off.
func (l *Learning) authorityOf(ctx context.Context, who proposal.Caller) (authority, error) {
	conf, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals)
	if fault.Is(err, fault.StoreCorrupt) {
		// Linked or damaged settings are not the ones that a person confirmed.
		if _, unconfirmed := l.settings.ConfirmedAfresh(ctx); unconfirmed != nil {
			err = unconfirmed
		}
	}
	if err != nil {
		return authority{}, err
	}
	a := authority{policy: proposal.PolicyOf(conf), caller: who}
	// The settings may have changed since they were read above: the confirmed ones count.
	if confirmed, err := l.settings.ConfirmedAfresh(ctx); err == nil {
		a.policy = proposal.PolicyOf(confirmed)
	} else {
		a.unconfirmed = err
	}
	return a, nil
}

// consider returns the state that a decision would be made about, without the lock.
func (l *Learning) consider(ctx context.Context, by engine.Caller, req DecideRequest) (d decision, err error) {
	if d.authority, err = l.authorityOf(ctx, req.caller(by)); err != nil {
		return d, err
	}
	read, err := l.readProposals(ctx)
	if err != nil {
		return d, err
	}
	d.all = read.fold
	d.one, err = read.fold.Find(req.Workspace, req.Ref)
	return d, err
}

// decideProposal records one decision and returns the proposal afterwards. plan
// returns a nil record if the decision is recorded already.
func (l *Learning) decideProposal(ctx context.Context, by engine.Caller, req DecideRequest,
	plan func(decision) (proposal.Record, []manifest.Object, error)) (Proposed, error) {
	defer l.ledger.WritePending(ctx)
	if _, err := l.authorityOf(ctx, req.caller(by)); err != nil {
		return Proposed{}, err
	}
	if err := proposal.CheckReason(req.Reason); err != nil {
		return Proposed{}, err
	}
	var d decision
	name, written := "", false
	err := l.changeProposal(ctx, by, req.Workspace, req.Ref, func(c proposalChange) (proposal.Record, []manifest.Object,
		error) {
		name, c.at.Reason = c.one.ID.String(), req.Reason
		d.store, d.all, d.one, d.at = c.store, c.all, c.one, c.at
		// The settings may have changed while the lock was awaited.
		var err error
		if d.authority, err = l.authorityOf(ctx, req.caller(by)); err != nil {
			return nil, nil, err
		}
		record, objects, err := plan(d)
		written = record != nil
		return record, objects, err
	})
	if err == nil && !written {
		// The decision was written by another process, which may have ended
		// before the bytes were synced.
		err = l.store.Confirm(ctx, proposal.LogOf(d.store), d.all.Head)
	}
	if err != nil {
		return Proposed{}, err
	}
	return l.readProposed(ctx, req.Workspace, name, proposal.ReasonRedactions(req.Reason))
}

// signed is a consent that was obtained before the lock, and the caller as the person who signed it.
type signed struct {
	by     engine.Caller
	given  consent.Given
	policy canon.Digest // that the signed text names; zero without a consent
}

// consented obtains the signature that the store requires for a decision, over the subject that make
// returns for the state before the lock. A store without signers requires none.
func consented(ctx context.Context, l *Learning, by engine.Caller, req DecideRequest,
	make func(decision) (consent.Subject, error)) (signed, error) {
	d, err := l.consider(ctx, by, req)
	if err != nil {
		return signed{by: by}, err
	}
	signers := d.policy.Signers()
	switch {
	case d.unconfirmed != nil:
		return signed{by: by}, d.unconfirmed
	case signers.IsZero() && by.Consents != nil:
		return signed{by: by}, settings.NoSigners()
	case signers.IsZero():
		return signed{by: by}, nil
	}
	d.at.Reason = req.Reason
	given, who, err := settings.Consented(ctx, by, signers, d.one.IsUsed, func(engine.Caller) (consent.Subject, error) {
		return make(d)
	})
	return signed{who, given, d.policy.Digest}, err
}

// check refuses a consent that was given under settings which were changed since.
func (c signed) check(d decision) error {
	if c.policy.IsZero() && d.policy.Signers().IsZero() || c.policy == d.policy.Digest && !d.one.IsUsed(c.given.SignedDigest()) {
		return nil
	}
	return fault.New(fault.ProposalChanged, "the settings, or the decisions about %s, were changed after it was signed", d.one.ID).
		With("proposalId", d.one.ID.String())
}

// place is the proposal that is decided about.
func (d decision) place() proposal.Place {
	return proposal.Place{Store: d.all.Store(), Proposal: d.one.ID}
}
