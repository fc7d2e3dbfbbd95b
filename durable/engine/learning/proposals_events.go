package learning

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// ProposalEvents is the document "proposal_events": the notifications about
// proposals (docs/design.md#proposals), the oldest first. No row contains a
// proposed artifact or a reason.
type ProposalEvents struct {
	Events []ProposalEvent `json:"events"`
	Health manifest.Health `json:"health"`
}

// ProposalEvent is one notification. Payload is what the protocol defines for the type. The members of the
// payload are repeated beside it.
type ProposalEvent struct {
	// Type is proposal.created or proposal.activated.
	Type    string      `json:"type"`
	AtMs    int64       `json:"atMs"`
	Payload canon.Value `json:"payload"`

	ProposalID           id.Proposal   `json:"proposalId"`
	Kind                 proposal.Kind `json:"kind"`
	SourceRunIDs         []id.Run      `json:"sourceRunIds,omitzero"`
	DuplicateOf          *string       `json:"duplicateOf,omitzero"`
	ApprovalID           *id.Event     `json:"approvalId,omitzero"`
	InstalledArtifactRef string        `json:"installedArtifactRef,omitzero"`
}

// ProposalEvents lists the notifications about the proposals of a workspace.
func (l *Learning) ProposalEvents(ctx context.Context, workspace string) (ProposalEvents, error) {
	out := ProposalEvents{Events: []ProposalEvent{}}
	read, err := l.readProposals(ctx)
	if err != nil || read.log.Owner == "" {
		out.Health = read.verdict.Health
		return out, err
	}
	// Records that the fold rejected are not announced.
	happened := map[int64]bool{}
	for _, one := range read.fold.List(ProposalQuery{Workspace: workspace}) {
		for _, m := range one.History {
			happened[m.EventIndex] = true
		}
	}
	v, err := l.store.Read(ctx, ports.ReadRequest{Log: read.log}, func(manifest.Head) ports.Visitor {
		out.Events = []ProposalEvent{}
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				if row, ok := proposalEventOf(e); ok && happened[e.Index] {
					out.Events = append(out.Events, row)
				}
			}
			return nil
		})
	})
	out.Health = v.Health
	return out, err
}

// proposalEventOf converts a record to a notification; ok is false for kinds
// without one.
func proposalEventOf(e event.Event) (row ProposalEvent, ok bool) {
	var wire any
	switch r := e.Data.(type) {
	case proposal.Created:
		w := r.OnWire()
		wire, row = w, ProposalEvent{Type: proposal.WireCreatedName, ProposalID: w.ProposalID,
			Kind: w.Kind, SourceRunIDs: w.SourceRunIDs, DuplicateOf: w.DuplicateOf}
	case proposal.Applied:
		w := r.OnWire()
		wire, row = w, ProposalEvent{Type: proposal.WireActivatedName, ProposalID: w.ProposalID,
			Kind: w.Kind, ApprovalID: w.ApprovalID, InstalledArtifactRef: w.InstalledArtifactRef}
	default:
		return row, false
	}
	var err error
	row.AtMs = e.TimestampMs
	row.Payload, err = canon.ValueOf(wire)
	return row, err == nil
}
