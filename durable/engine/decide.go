package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/projections"
)

// DecideRequest asks to decide something about a proposal.
type DecideRequest struct {
	Ref       string
	Workspace string
	Reason    string
	// AtTerminal says that a person sits at a terminal, and no pipe or program answers
	// for them. Only whoever asks knows.
	AtTerminal bool
}

func (r DecideRequest) principal(by Caller) proposal.Principal {
	return proposal.PrincipalOf(by.Actor, r.AtTerminal)
}

// ApproveProposal records a person's approval of exactly the artifact that they were
// shown: PROPOSAL_CHANGED where it was revised meanwhile, PROPOSAL_FORBIDDEN for whoever
// does not hold the role, or is not at a terminal. The same approval again changes
// nothing.
func (g *Engine) ApproveProposal(ctx context.Context, by Caller, req DecideRequest, shown canon.Digest) (Proposed,
	error) {
	return g.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		if err := proposal.CheckApprove(d.one.State); err != nil {
			return nil, nil, err
		}
		if err := d.policy.CheckApprove(d.principal); err != nil {
			return nil, nil, err
		}
		if now := d.one.Last().Artifact.SHA256; now != shown {
			return nil, nil, fault.New(fault.ProposalChanged,
				"%s was revised while it was looked at: the approval was meant for %s, and it is %s now", d.one.ID,
				shown, now).
				With("proposalId", d.one.ID.String()).With("shown", shown.String()).With("now", now.String())
		}
		gate := d.policy.Gate(shown, d.one.Given())
		for _, a := range d.one.Approvals {
			if a.Principal == d.principal.Name() && slices.Contains(gate.Approvals, a.ApprovalID) {
				return nil, nil, nil // they have approved it
			}
		}
		return proposal.Approve(d.store, d.at, by.Actor, shown, d.policy.ApproverRole), nil, nil
	})
}

// ApplyRequest asks to activate a proposal.
type ApplyRequest struct {
	DecideRequest
	Override bool // past the approval gate: a person's, with a reason
	// Check finds what is unsound about an artifact, beside what is installed.
	Check func(kind proposal.Kind, artifact canon.Value, installed []InstalledArtifact) []problem.Problem
}

// ApplyProposal installs what was last proposed, byte for byte. Record and installation
// are one commit. PROPOSAL_PENDING where approvals are missing, PROPOSAL_FORBIDDEN where
// the caller lacks the scope, PROPOSAL_INVALID for an artifact that is unsound for its
// kind; nothing changes then.
func (g *Engine) ApplyProposal(ctx context.Context, by Caller, req ApplyRequest) (Proposed, error) {
	return g.decideProposal(ctx, by, req.DecideRequest, func(d decision) (proposal.Record, []manifest.Object, error) {
		if _, err := proposal.Next(d.one.State, proposal.MoveApply); err != nil {
			return nil, nil, err
		}
		last := d.one.Last()
		a := proposal.Activation{Mode: d.policy.Mode, By: by.Actor, SHA256: last.Artifact.SHA256, Slot: last.Slot,
			Version: last.Version}
		if err := d.authorizeApply(req, &a); err != nil {
			return nil, nil, err
		}
		data, err := g.Objects.Object(ctx, manifest.Artifact, last.Artifact.SHA256)
		if err != nil {
			return nil, nil, err
		}
		if err := g.checkArtifact(ctx, d, req, data); err != nil {
			return nil, nil, err
		}
		return proposal.Apply(d.at, a), []manifest.Object{{Kind: manifest.Installed, Bytes: data}}, nil
	})
}

// mayApply asks what the store's mode asks for.
func (d decision) authorizeApply(req ApplyRequest, a *proposal.Activation) error {
	if d.policy.Mode == proposal.DirectRBAC {
		if req.Override {
			return fault.New(fault.ValidationError, "there is no approval gate to go past: this store activates by %s",
				d.policy.Mode).Suggest("Leave --override out.")
		}
		return d.policy.CheckScope(d.principal, config.ScopeApply)
	}
	if req.Override {
		a.Override = true
		return d.policy.CheckOverride(d.principal, req.Reason)
	}
	gate := d.policy.Gate(d.one.Last().Artifact.SHA256, d.one.Given())
	a.Approvals = gate.Approvals
	return gate.Err(d.one.ID)
}

// sound refuses an artifact that is unsound for its kind, or in the way of another.
func (g *Engine) checkArtifact(ctx context.Context, d decision, req ApplyRequest, data []byte) error {
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
	displaced := d.all.Displaced(d.one)
	for _, i := range d.all.Installed(req.Workspace) {
		if displaced != nil && i == *displaced {
			continue // it goes in its place
		}
		if v, err := g.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256); err == nil {
			others = append(others, InstalledArtifact{i, v})
		}
	}
	found := req.Check(d.one.Kind, artifact, others)
	if !problem.HasErrors(found) {
		return nil
	}
	first := found[slices.IndexFunc(found, func(p problem.Problem) bool { return p.Severity == problem.Error })]
	f := fault.New(fault.ProposalInvalid, "%s is not sound: %s", d.one.ID, first.Message)
	if at := first.Pointer; at != "" {
		f.Message = fmt.Sprintf("%s is not sound at %s: %s", d.one.ID, at, first.Message)
	}
	return f.With("proposalId", d.one.ID.String()).With("problems", found)
}

// RejectProposal refuses a proposal; it can be revised or archived afterwards.
func (g *Engine) RejectProposal(ctx context.Context, by Caller, req DecideRequest) (Proposed, error) {
	return g.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveReject)
		return proposal.Reject(d.at), nil, err
	})
}

// ArchiveProposal puts a proposal away; it can be revised afterwards.
func (g *Engine) ArchiveProposal(ctx context.Context, by Caller, req DecideRequest) (Proposed, error) {
	return g.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		_, err := proposal.Next(d.one.State, proposal.MoveArchive)
		return proposal.Archive(d.at), nil, err
	})
}

// RollBackProposal takes an applied proposal out of use: what was in its slot before is
// in use again. It takes what applying took: the approver's role at a terminal, or the
// scope.
func (g *Engine) RollBackProposal(ctx context.Context, by Caller, req DecideRequest) (Proposed, error) {
	return g.decideProposal(ctx, by, req, func(d decision) (proposal.Record, []manifest.Object, error) {
		if _, err := proposal.Next(d.one.State, proposal.MoveRollBack); err != nil {
			return nil, nil, err
		}
		if err := d.authorizeRollBack(); err != nil {
			return nil, nil, err
		}
		applied, _ := d.one.Activation()
		return proposal.RollBack(d.at, applied.Slot, d.all.RestoredBy(d.one)), nil, nil
	})
}

// mayRollBack asks for what activating asks for, and not for a terminal: what somebody
// may bring in they may take out.
func (d decision) authorizeRollBack() error {
	if d.policy.Mode == proposal.DirectRBAC {
		return d.policy.CheckScope(d.principal, config.ScopeApply)
	}
	return d.policy.CheckRole(d.principal)
}

// decision is what somebody decides about, as it stands under the lock.
type decision struct {
	store     id.Store
	policy    proposal.Policy
	all       *projections.Proposals
	one       *projections.Proposal
	at        proposal.At
	principal proposal.Principal
}

// decide records one decision, and gives the proposal as it stands then.
func (g *Engine) decideProposal(ctx context.Context, by Caller, req DecideRequest,
	plan func(decision) (proposal.Record, []manifest.Object, error)) (Proposed, error) {
	defer g.writePendingAudit(ctx)
	conf, err := g.requireProvided(ctx, config.Proposals, config.Config.Proposals)
	if err != nil {
		return Proposed{}, err
	}
	if err := proposal.CheckReason(req.Reason); err != nil {
		return Proposed{}, err
	}
	d := decision{policy: proposal.PolicyOf(conf), principal: req.principal(by)}
	name, written := "", false
	err = g.changeProposal(ctx, by, req.Workspace, req.Ref, func(c proposalChange) (proposal.Record, []manifest.Object,
		error) {
		name, c.at.Reason = c.one.ID.String(), req.Reason
		d.store, d.all, d.one, d.at = c.store, c.all, c.one, c.at
		record, objects, err := plan(d)
		written = record != nil
		return record, objects, err
	})
	if err == nil && !written {
		// It is answered from the log: whoever wrote that may not have come to make it durable.
		err = g.Logs.Confirm(ctx, proposalsLog(d.store), d.all.Head)
	}
	if err != nil {
		return Proposed{}, err
	}
	return g.readProposed(ctx, req.Workspace, name, nil)
}

// MayApprove refuses whoever may not approve, before they are shown anything to decide.
func (g *Engine) MayApprove(ctx context.Context, by Caller, req DecideRequest) error {
	conf, err := g.requireProvided(ctx, config.Proposals, config.Config.Proposals)
	if err != nil {
		return err
	}
	return proposal.PolicyOf(conf).CheckApprove(req.principal(by))
}
