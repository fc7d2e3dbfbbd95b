package learning

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/projections/proposals"
)

// DecideRequest requests a decision about a proposal.
type DecideRequest struct {
	Ref       string
	Workspace string
	Reason    string
	// AtTerminal reports that a person types at a terminal and the answer does
	// not come from a pipe or a program. Only the caller knows.
	AtTerminal bool
}

// principal is the decider as the policy sees it.
func (r DecideRequest) principal(by engine.Caller) proposal.Principal {
	return proposal.PrincipalOf(by.Actor, r.AtTerminal)
}

// ApproveProposal records a person's approval of exactly the artifact that was
// shown to them. A repeated approval changes nothing. Errors: PROPOSAL_CHANGED
// if the proposal was revised since, PROPOSAL_FORBIDDEN without the approver's
// role or a terminal.
func (l *Learning) ApproveProposal(ctx context.Context, by engine.Caller, req DecideRequest,
	shown canon.Digest) (Proposed,
	error) {
	return l.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		if err := proposal.CheckApprove(d.one.State); err != nil {
			return nil, nil, err
		}
		if err := d.policy.CheckApprove(d.principal); err != nil {
			return nil, nil, err
		}
		if now := d.one.Last().Artifact.SHA256; now != shown {
			return nil, nil, fault.New(fault.ProposalChanged,
				"%s was revised after it was shown: the approval is for %s, and the artifact is %s now", d.one.ID,
				shown, now).
				With("proposalId", d.one.ID.String()).With("shown", shown.String()).With("now", now.String())
		}
		// Void approvals do not make a new one redundant.
		gate := d.policy.Gate(shown, d.one.PolicyApprovals())
		for _, a := range d.one.Approvals {
			if a.Principal == d.principal.Name() && slices.Contains(gate.Approvals, a.ApprovalID) {
				return nil, nil, nil // approved by the same principal already
			}
		}
		return proposal.Approve(d.store, d.at, by.Actor, shown, d.policy.ApproverRole), nil, nil
	})
}

// ApplyRequest requests to activate a proposal.
type ApplyRequest struct {
	DecideRequest
	// Override bypasses the approval gate; it requires a person and a reason.
	Override bool
	// Check returns the problems of an artifact in combination with the
	// installed ones; nil: not checked.
	Check func(kind proposal.Kind, artifact canon.Value, installed []InstalledArtifact) []problem.Problem
}

// ApplyProposal installs the last revision, byte for byte. The record and the
// installed object are one commit. Errors: PROPOSAL_PENDING if approvals are
// missing, PROPOSAL_FORBIDDEN without the required scope, PROPOSAL_INVALID if
// the artifact is not valid for its kind; nothing changes then.
func (l *Learning) ApplyProposal(ctx context.Context, by engine.Caller, req ApplyRequest) (Proposed, error) {
	return l.decideProposal(ctx, by, req.DecideRequest, func(d decision) (proposal.Record, []manifest.Object, error) {
		if _, err := proposal.Next(d.one.State, proposal.MoveApply); err != nil {
			return nil, nil, err
		}
		last := d.one.Last()
		a := proposal.Activation{Mode: d.policy.Mode, By: by.Actor, SHA256: last.Artifact.SHA256, Slot: last.Slot,
			Version: last.Version}
		if err := d.authorizeApply(req, &a); err != nil {
			return nil, nil, err
		}
		data, err := l.store.Object(ctx, manifest.Artifact, last.Artifact.SHA256)
		if err != nil {
			return nil, nil, err
		}
		if err := l.checkArtifact(ctx, d, req, data); err != nil {
			return nil, nil, err
		}
		return proposal.Apply(d.at, a), []manifest.Object{{Kind: manifest.Installed, Bytes: data}}, nil
	})
}

// authorizeApply checks what the store's mode requires to activate a proposal,
// and records in a by which approvals it is activated.
func (d decision) authorizeApply(req ApplyRequest, a *proposal.Activation) error {
	if d.policy.Mode == proposal.DirectRBAC {
		if req.Override {
			return fault.New(fault.ValidationError, "this store has no approval gate to override: it activates by %s",
				d.policy.Mode).Suggest("Remove --override.")
		}
		return d.policy.CheckScope(d.principal, config.ScopeApply)
	}
	if req.Override {
		a.Override = true
		return d.policy.CheckOverride(d.principal, req.Reason)
	}
	gate := d.policy.Gate(d.one.Last().Artifact.SHA256, d.one.PolicyApprovals())
	a.Approvals = gate.Approvals
	return gate.Err(d.one.ID)
}

// checkArtifact refuses with PROPOSAL_INVALID an artifact that is not valid for
// its kind or conflicts with an installed one.
func (l *Learning) checkArtifact(ctx context.Context, d decision, req ApplyRequest, data []byte) error {
	artifact, err := canon.Parse(data)
	if err != nil {
		return fault.Wrap(err, fault.ProposalInvalid, "the artifact cannot be read: %v", err)
	}
	if _, _, err := proposal.SlotOf(d.one.Kind, artifact); err != nil {
		return err
	}
	if req.Check == nil {
		return nil
	}
	var others []InstalledArtifact
	displaced := d.all.InstalledInSlot(d.one)
	for _, i := range d.all.Installed(req.Workspace) {
		if displaced != nil && i == *displaced {
			continue // replaced by this proposal
		}
		if v, err := l.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256); err == nil {
			others = append(others, InstalledArtifact{i, v})
		}
	}
	found := req.Check(d.one.Kind, artifact, others)
	if !problem.HasErrors(found) {
		return nil
	}
	first := found[slices.IndexFunc(found, func(p problem.Problem) bool { return p.Severity == problem.Error })]
	f := fault.New(fault.ProposalInvalid, "%s is not valid: %s", d.one.ID, first.Message)
	if at := first.Pointer; at != "" {
		f.Message = fmt.Sprintf("%s is not valid at %s: %s", d.one.ID, at, first.Message)
	}
	return f.With("proposalId", d.one.ID.String()).With("problems", found)
}

// RejectProposal rejects a proposal. It can be revised or archived afterwards.
func (l *Learning) RejectProposal(ctx context.Context, by engine.Caller, req DecideRequest) (Proposed, error) {
	return l.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveReject)
		return proposal.Reject(d.at), nil, err
	})
}

// ArchiveProposal archives a proposal. It can be revised afterwards.
func (l *Learning) ArchiveProposal(ctx context.Context, by engine.Caller, req DecideRequest) (Proposed, error) {
	return l.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveArchive)
		return proposal.Archive(d.at), nil, err
	})
}

// RollBackProposal takes an applied proposal out of use; the previous content
// of its slot is in use again. It requires the approver's role, or the scope in
// stores without an approval gate.
func (l *Learning) RollBackProposal(ctx context.Context, by engine.Caller, req DecideRequest) (Proposed, error) {
	return l.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		if _, err := proposal.Next(d.one.State, proposal.MoveRollBack); err != nil {
			return nil, nil, err
		}
		if err := d.authorizeRollBack(); err != nil {
			return nil, nil, err
		}
		applied, _ := d.one.Activation()
		return proposal.RollBack(d.at, applied.Slot, d.all.RestoredDigest(d.one)), nil, nil
	})
}

// authorizeRollBack checks what activation requires, except for the terminal:
// removing a change is less critical than making it.
func (d decision) authorizeRollBack() error {
	if d.policy.Mode == proposal.DirectRBAC {
		return d.policy.CheckScope(d.principal, config.ScopeApply)
	}
	return d.policy.CheckRole(d.principal)
}

// decision is the state under the lock that a decision is made about.
type decision struct {
	store     id.Store
	policy    proposal.Policy
	all       *proposals.Log
	one       *proposals.Proposal
	at        proposal.At
	principal proposal.Principal
}

// decideProposal records one decision and returns the proposal afterwards. plan
// returns a nil record if the decision is recorded already.
func (l *Learning) decideProposal(ctx context.Context, by engine.Caller, req DecideRequest,
	plan func(decision) (proposal.Record, []manifest.Object, error)) (Proposed, error) {
	defer l.ledger.WritePending(ctx)
	conf, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals)
	if err != nil {
		return Proposed{}, err
	}
	if err := proposal.CheckReason(req.Reason); err != nil {
		return Proposed{}, err
	}
	d := decision{policy: proposal.PolicyOf(conf), principal: req.principal(by)}
	name, written := "", false
	err = l.changeProposal(ctx, by, req.Workspace, req.Ref, func(c proposalChange) (proposal.Record, []manifest.Object,
		error) {
		name, c.at.Reason = c.one.ID.String(), req.Reason
		d.store, d.all, d.one, d.at = c.store, c.all, c.one, c.at
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
	return l.readProposed(ctx, req.Workspace, name, nil)
}

// MayApprove refuses callers who may not approve, before anything is shown to
// them. Errors: PROPOSAL_FORBIDDEN, CAPABILITY_NOT_PROVIDED.
func (l *Learning) MayApprove(ctx context.Context, by engine.Caller, req DecideRequest) error {
	conf, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals)
	if err != nil {
		return err
	}
	return proposal.PolicyOf(conf).CheckApprove(req.principal(by))
}
