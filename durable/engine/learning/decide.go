package learning

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/projections/proposals"
)

// Presence is what the program observes of its caller, beside the actor. No argument of a call sets
// it.
type Presence struct {
	// AtTerminal reports that a person types at a terminal and the answer does
	// not come from a pipe or a program. Only the caller knows.
	AtTerminal bool
	// Account is the account that the process runs as.
	Account config.Account
}

// caller is the caller as the policy sees it.
func (p Presence) caller(by engine.Caller) proposal.Caller {
	return proposal.Caller{Human: by.Actor.Kind == event.Human, AtTerminal: p.AtTerminal, Account: p.Account,
		Signer: by.Signer}
}

// DecideRequest requests a decision about a proposal.
type DecideRequest struct {
	Presence
	Ref       string
	Workspace string
	Reason    string
	// Check returns the problems of an artifact in combination with the
	// installed ones; nil: not checked. It is for approvals and activations.
	Check func(kind proposal.Kind, artifact canon.Value, installed []InstalledArtifact) []problem.Problem
	// Replaced finds what a proposal replaces, for the same; nil: nothing is found.
	Replaced ReadReplaced
}

// Shown identifies what a person saw of a proposal before they answered. The zero Shown is nothing.
type Shown struct {
	Revision int64
	Artifact canon.Digest
	// Replaced is the artifact that is in use in its slot, zero if none is.
	Replaced canon.Digest
	// Replaces is what the revision names to be replaced.
	Replaces proposal.Replaces
}

// MayApprove refuses callers who may not approve, before anything is shown to them. given reports
// that the caller's approval counts already and was given under the policy in force. Errors:
// PROPOSAL_PENDING without a terminal, PROPOSAL_FORBIDDEN, PRINCIPALS_UNBOUND, PROPOSAL_STATE,
// POLICY_UNCONFIRMED, CAPABILITY_NOT_PROVIDED; PROPOSAL_INVALID and PROPOSAL_CHANGED for what could not be
// applied as it is.
func (l *Learning) MayApprove(ctx context.Context, by engine.Caller, req DecideRequest) (given bool, err error) {
	d, err := l.consider(ctx, by, req)
	if err != nil {
		return false, err
	}
	if !d.policy.Signers().IsZero() { // who approves is known from the signature
		err := cmp.Or(proposal.CheckApprove(d.one.State), d.unconfirmed, checkBrings(by))
		return false, cmp.Or(err, checkContent(ctx, l, d, req))
	}
	// The code PROPOSAL_PENDING reports to a program that a person is required.
	err = d.checkApprove()
	if fault.Is(err, fault.ProposalForbidden) && !req.AtTerminal {
		err = fault.New(fault.ProposalPending,
			"%s requires approval by a person, and this call has no terminal", d.one.ID).With("proposalId", d.one.ID.String())
	}
	if err == nil && !d.approved() {
		return false, checkContent(ctx, l, d, req)
	}
	return err == nil, err
}

// checkBrings refuses a caller who brings no signature where one is required.
func checkBrings(by engine.Caller) error {
	if by.Consents != nil {
		return nil
	}
	return settings.Unsigned()
}

// checkApprove checks the state of the proposal, and whether the caller may approve it.
func (d decision) checkApprove() error {
	if err := proposal.CheckApprove(d.one.State); err != nil {
		return err
	}
	return cmp.Or(d.unconfirmed, d.policy.CheckApprove(d.caller))
}

// approved reports whether an approval of the caller counts that was given under the policy in force.
// One of another policy does not make a new one redundant: the stricter policy counts for it.
func (d decision) approved() bool {
	now := d.policy.Consent(d.caller, d.one.Last().Artifact.SHA256)
	return slices.ContainsFunc(d.one.Approvals, func(a proposals.Approval) bool {
		return a.Principal == now.Principal && a.Terms == now.Terms &&
			slices.Contains(d.gate().Approvals, a.ApprovalID)
	})
}

// ApproveProposal records a person's approval of exactly what was shown to them. A repeated approval
// changes nothing. Errors: PROPOSAL_CHANGED if the proposal was revised since, PROPOSAL_FORBIDDEN
// without the approver's role or a terminal, and those of MayApprove.
func (l *Learning) ApproveProposal(ctx context.Context, by engine.Caller, req DecideRequest, shown Shown) (Proposed,
	error) {
	by = by.Approver()
	c, err := consented(ctx, l, by, req, func(d decision) (consent.Subject, error) {
		return proposal.ApprovalSubject(d.place(), d.policy.Digest, shown.Artifact, shown.Replaces, d.at.StoredReason()),
			cmp.Or(proposal.CheckApprove(d.one.State), d.checkShown(shown))
	})
	if err != nil {
		return Proposed{}, err
	}
	return l.decideProposal(ctx, c.by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		if err := cmp.Or(c.check(d), d.checkApprove(), d.checkShown(shown)); err != nil {
			return nil, nil, err
		}
		if d.approved() {
			return nil, nil, nil
		}
		if err := checkContent(ctx, l, d, req); err != nil {
			return nil, nil, err
		}
		approval := d.policy.Consent(d.caller, shown.Artifact)
		approval.Given, approval.Replaces = c.given, shown.Replaces
		return proposal.Approve(d.store, d.at, approval), nil, nil
	})
}

// checkShown refuses, with PROPOSAL_CHANGED, a decision about anything else than what was shown: the
// proposal was revised, or something else is in its slot now.
func (d decision) checkShown(shown Shown) error {
	now := shownOf(d.all, d.one)
	what := fmt.Sprintf("%s was revised after it was shown: the answer is for %s in revision %d, and the artifact "+
		"is %s in revision %d now", d.one.ID, shown.Artifact, shown.Revision, now.Artifact, now.Revision)
	switch {
	case now == shown:
		return nil
	case shown == Shown{}:
		what = fmt.Sprintf("%s is decided about only after it was shown", d.one.ID)
	case now.Artifact == shown.Artifact && now.Revision == shown.Revision:
		what = fmt.Sprintf("what %s would replace changed after it was shown", d.one.ID)
	}
	return fault.New(fault.ProposalChanged, "%s", what).
		With("proposalId", d.one.ID.String()).With("shown", shown.Artifact.String()).With("now", now.Artifact.String())
}

// shownOf returns what a view of the last revision of a proposal shows now.
func shownOf(all *proposals.Log, one *proposals.Proposal) Shown {
	s := Shown{Revision: one.Last().Revision, Artifact: one.Last().Artifact.SHA256, Replaces: one.Last().Replaces}
	if i := all.InstalledInSlot(one); i != nil {
		s.Replaced = i.Artifact.SHA256
	}
	return s
}

// ApplyRequest requests to activate a proposal.
type ApplyRequest struct {
	DecideRequest
	// Override bypasses the approval gate; it requires a person and a reason.
	Override bool
	// Shown is what a person confirmed, where MayApply asks for it.
	Shown Shown
}

// MayApply refuses callers who may not apply a proposal, before anything is shown to them. ask reports
// that a person has to see the proposal and confirm it first: no approval of it is required, and the
// caller is at a terminal. Errors: those of ApplyProposal, but for PROPOSAL_INVALID.
func (l *Learning) MayApply(ctx context.Context, by engine.Caller, req ApplyRequest) (ask bool, err error) {
	d, err := l.consider(ctx, by, req.DecideRequest)
	if err != nil {
		return false, err
	}
	if _, err := proposal.Next(d.one.State, proposal.MoveApply); err != nil {
		return false, err
	}
	if d.asks(req) && !d.policy.Signers().IsZero() { // who installs is known from the signature
		return true, cmp.Or(d.unconfirmed, checkBrings(by), checkContent(ctx, l, d, req.DecideRequest))
	}
	if _, err = d.authorizeApply(req); err == nil && d.asks(req) {
		err = checkContent(ctx, l, d, req.DecideRequest) // before a person reads it
	}
	return d.asks(req), err
}

// asks reports whether a person has to confirm an activation: no approval of it is required, and the caller
// is at a terminal, or the store has signers.
func (d decision) asks(req ApplyRequest) bool {
	return req.Override || d.policy.Mode == proposal.DirectRBAC && (req.AtTerminal || !d.policy.Signers().IsZero())
}

// ApplyProposal installs the last revision, byte for byte. The record and the
// installed object are one commit. Errors: PROPOSAL_PENDING if approvals are
// missing, PROPOSAL_FORBIDDEN without the required scope, PROPOSAL_INVALID if
// the artifact is not valid for its kind, PROPOSAL_CHANGED if it is not what a person
// confirmed where MayApply asks; nothing changes then.
func (l *Learning) ApplyProposal(ctx context.Context, by engine.Caller, req ApplyRequest) (Proposed, error) {
	c, err := consentedActivation(ctx, l, by, req)
	if err != nil {
		return Proposed{}, err
	}
	return l.decideProposal(ctx, c.by, req.DecideRequest, func(d decision) (proposal.Record, []manifest.Object, error) {
		if _, err := proposal.Next(d.one.State, proposal.MoveApply); err != nil {
			return nil, nil, err
		}
		approvals, err := d.authorizeApply(req)
		if err == nil && d.asks(req) {
			err = cmp.Or(c.check(d), d.checkShown(req.Shown))
		}
		if err != nil {
			return nil, nil, err
		}
		last := d.one.Last()
		data, err := l.store.Object(ctx, manifest.Artifact, last.Artifact.SHA256)
		if err != nil {
			return nil, nil, err
		}
		if err := cmp.Or(l.checkArtifact(ctx, d, req.DecideRequest, data), checkReplaced(ctx, l, d, req.DecideRequest)); err != nil {
			return nil, nil, err
		}
		return proposal.Apply(d.at, proposal.Activation{Mode: d.policy.Mode, Approvals: approvals,
			Override: req.Override, PolicyDigest: d.policy.Digest, Principal: d.policy.Principal(d.caller), Given: c.given,
			SHA256: last.Artifact.SHA256, Slot: last.Slot, Version: last.Version, Replaces: last.Replaces}), []manifest.Object{{Kind: manifest.Installed, Bytes: data}}, nil
	})
}

// consentedActivation obtains the signature for an activation that needs no approval, in a store with
// signers. Approvals are signed themselves.
func consentedActivation(ctx context.Context, l *Learning, by engine.Caller, req ApplyRequest) (signed, error) {
	d, err := l.consider(ctx, by, req.DecideRequest)
	if err != nil || !d.asks(req) || d.policy.Signers().IsZero() {
		if err == nil && by.Consents != nil {
			err = fault.New(fault.ValidationError, "the approvals of this proposal are signed, and installing it needs no signature").
				Suggest("Run the command again without a signature.")
		}
		return signed{by: by}, err
	}
	return consented(ctx, l, by, req.DecideRequest, func(d decision) (consent.Subject, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveApply)
		return proposal.ActivationSubject(d.place(), d.policy.Digest, req.Shown.Artifact, req.Shown.Replaces,
			d.at.StoredReason()), cmp.Or(err, d.checkShown(req.Shown))
	})
}

// authorizeApply checks what the store's mode requires to activate a proposal, and returns the
// approvals by which it is activated.
func (d decision) authorizeApply(req ApplyRequest) (approvals []id.Event, err error) {
	switch {
	case d.unconfirmed != nil:
		return nil, d.unconfirmed
	case d.policy.Mode == proposal.DirectRBAC && req.Override:
		return nil, fault.New(fault.ValidationError, "this store has no approval gate to override: it activates by %s",
			d.policy.Mode).Suggest("Remove --override.")
	case d.policy.Mode == proposal.DirectRBAC:
		return nil, d.policy.CheckScope(d.caller, config.ScopeApply)
	case req.Override:
		return nil, d.policy.CheckOverride(d.caller, req.Reason)
	}
	gate := d.gate()
	return gate.Approvals, gate.Err(d.one.ID)
}

// checkContent refuses an approval of what could not be applied as it is: an artifact that is not valid for its
// kind, or that would replace something else than it names.
func checkContent(ctx context.Context, l *Learning, d decision, req DecideRequest) error {
	data, err := l.store.Object(ctx, manifest.Artifact, d.one.Last().Artifact.SHA256)
	if err != nil {
		return err
	}
	return cmp.Or(l.checkArtifact(ctx, d, req, data), checkReplaced(ctx, l, d, req))
}

// checkArtifact refuses with PROPOSAL_INVALID an artifact that is not valid for
// its kind or conflicts with an installed one.
func (l *Learning) checkArtifact(ctx context.Context, d decision, req DecideRequest, data []byte) error {
	artifact, err := canon.Parse(data)
	if err != nil {
		return fault.Wrap(err, fault.ProposalInvalid, "the artifact cannot be read: %v", err)
	}
	slot, _, err := proposal.SlotOf(d.one.Kind, artifact)
	if err != nil {
		return err
	}
	if req.Check == nil {
		return checkReserved(d.one.ID, slot)
	}
	var others []InstalledArtifact
	displaced := d.all.InstalledInSlot(d.one)
	for _, i := range d.all.Installed(req.Workspace) {
		if displaced != nil && i == *displaced {
			continue // replaced by this proposal
		}
		if v, err := l.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256); err == nil {
			others = append(others, InstalledArtifact{i, d.all.ReplacedFiles(i.ProposalID), v})
		}
	}
	found := req.Check(d.one.Kind, artifact, others)
	if !problem.HasErrors(found) {
		return checkReserved(d.one.ID, slot)
	}
	first := found[slices.IndexFunc(found, func(p problem.Problem) bool { return p.Severity == problem.Error })]
	f := fault.New(fault.ProposalInvalid, "%s is not valid: %s", d.one.ID, first.Message)
	if at := first.Pointer; at != "" {
		f.Message = fmt.Sprintf("%s is not valid at %s: %s", d.one.ID, at, first.Message)
	}
	return f.With("proposalId", d.one.ID.String()).With("problems", found)
}

// checkReserved refuses an artifact with an id of the bundled ones.
func checkReserved(of id.Proposal, s proposal.Slot) error {
	if !source.Reserved(s.ID) {
		return nil
	}
	return fault.New(fault.ProposalInvalid, "%s is not valid: ids that start with wr. are reserved for what is bundled, got %q", of, s.ID).
		Suggest("Give it another id, and record it with %s.", fault.Command{"proposals", "revise", of.String(), "FILE"}).
		With("proposalId", of.String())
}

// RejectProposal rejects a proposal. It can be revised or archived afterwards. Of a proposal with
// approvals it requires the approver's role.
func (l *Learning) RejectProposal(ctx context.Context, by engine.Caller, req DecideRequest) (Proposed, error) {
	return l.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveReject)
		return proposal.Reject(d.at), nil, cmp.Or(err, d.checkDiscard())
	})
}

// ArchiveProposal archives a proposal. It can be revised afterwards. Of a proposal with approvals it
// requires the approver's role.
func (l *Learning) ArchiveProposal(ctx context.Context, by engine.Caller, req DecideRequest) (Proposed, error) {
	return l.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveArchive)
		return proposal.Archive(d.at), nil, cmp.Or(err, d.checkDiscard())
	})
}

// checkDiscard checks whether the caller may make the approvals of the proposal ineffective.
func (d decision) checkDiscard() error {
	// In other states no approval has an effect, and a revision voids all of them. An approval that
	// does not count now may count again, with another policy.
	if !d.one.State.Open() || !slices.ContainsFunc(d.one.Approvals,
		func(a proposals.Approval) bool { return a.Void == "" && !a.PolicyDigest.IsZero() }) {
		return nil // under any policy
	}
	return cmp.Or(d.unconfirmed, d.policy.CheckDiscard(d.caller, d.one.ID))
}

// RollBackProposal takes an applied proposal out of use; the previous content
// of its slot is in use again. It requires the approver's role, or the scope in
// stores without an approval gate.
func (l *Learning) RollBackProposal(ctx context.Context, by engine.Caller, req DecideRequest) (Proposed, error) {
	c, err := consented(ctx, l, by, req, func(d decision) (consent.Subject, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveRollBack)
		return proposal.RollBackSubject(d.place(), d.policy.Digest, d.one.Last().Artifact.SHA256, d.at.StoredReason()), err
	})
	if err != nil {
		return Proposed{}, err
	}
	return l.decideProposal(ctx, c.by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		if _, err := proposal.Next(d.one.State, proposal.MoveRollBack); err != nil {
			return nil, nil, err
		}
		if err := cmp.Or(c.check(d), d.authorizeRollBack()); err != nil {
			return nil, nil, err
		}
		applied, _ := d.one.Activation()
		r := proposal.RollBack(d.at, applied.Slot, d.all.RestoredDigest(d.one))
		r.Given, r.PolicyDigest = c.given, c.policy
		return r, nil, nil
	})
}

// authorizeRollBack checks what activation requires, except for the terminal:
// removing a change is less critical than making it.
func (d decision) authorizeRollBack() error {
	if d.unconfirmed != nil {
		return d.unconfirmed
	}
	if d.policy.Mode == proposal.DirectRBAC {
		return d.policy.CheckScope(d.caller, config.ScopeApply)
	}
	return d.policy.CheckRole(d.caller)
}
