package hosting

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// Proposals changes and applies proposals of one workspace for callers of the protocol. A key is an agent: it approves
// nothing, and holds no role.
type Proposals struct {
	l         *learning.Learning
	workspace string
}

// NewProposals returns the proposals of a workspace.
func NewProposals(l *learning.Learning, workspace string) Proposals { return Proposals{l, workspace} }

// patched are the members of a proposal that its author may change.
var patched = []string{"title", "rationale", "artifact"}

// Revise records a revision of a proposal with other title, rationale or artifact: a member that patch has replaces the
// whole one, null removes title or rationale. VALIDATION_ERROR for any other member, and for a patch without one.
func (p Proposals) Revise(ctx context.Context, by engine.Caller, ref string, patch canon.Value) (proposal.Proposal, error) {
	if patch.Kind() != canon.Object || patch.Len() == 0 {
		return proposal.Proposal{}, fault.New(fault.ValidationError, "the body is no object with title, rationale or artifact").
			With("pointer", "")
	}
	for i := range patch.Len() {
		if name := patch.Key(i); !slices.Contains(patched, name) {
			return proposal.Proposal{}, fault.New(fault.ValidationError, "a revision changes title, rationale and artifact only").
				With("pointer", "/"+canon.EscapePointer(name))
		}
	}
	draft, revision, err := learning.MergedDraft(ctx, p.l, p.workspace, ref, patch)
	if err != nil {
		return proposal.Proposal{}, err
	}
	out, err := p.l.ReviseProposal(ctx, by, ref, learning.ProposeRequest{Draft: draft, Merged: revision, Workspace: p.workspace})
	return out.Proposal, err
}

// Gate is how many approvals a proposal has and wants.
type Gate struct {
	Have, Want int64
	Role       string
}

// Apply installs a proposal. Without its approvals nothing is installed, and the gate is returned.
func (p Proposals) Apply(ctx context.Context, by engine.Caller, req learning.ApplyRequest) (proposal.Proposal, *Gate, error) {
	out, err := p.l.ApplyProposal(ctx, by, req)
	if !fault.Is(err, fault.ProposalPending) {
		return out.Proposal, nil, err
	}
	now, details, err := p.l.Proposal(ctx, p.workspace, req.Ref)
	return now, &Gate{details.Gate.Have, details.Gate.Want, details.Gate.Role}, err
}
