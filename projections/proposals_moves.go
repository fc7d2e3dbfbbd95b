package projections

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// act folds a record about a proposal that was created. why is "" where it was believed;
// else nothing has changed.
func (p *Proposals) act(one *Proposal, e event.Event, r proposal.Record) (why string) {
	switch r := r.(type) {
	case proposal.Revised:
		return one.revise(e, r)
	case proposal.Approved:
		return one.approve(e, r)
	case proposal.Applied:
		return one.apply(e, r)
	case proposal.Rejected:
		return one.move(e, proposal.MoveReject, r)
	case proposal.Archived:
		return one.move(e, proposal.MoveArchive, r)
	case proposal.RolledBack:
		return p.rollBack(one, e, r)
	}
	return "it is of an unknown kind"
}

// move is the last thing that folding a record does: what it refuses has changed nothing.
func (p *Proposal) move(e event.Event, m proposal.Move, r proposal.Record) (why string) {
	to, err := proposal.Next(p.State, m)
	if err != nil {
		return fault.Of(err).Message
	}
	_, _, reason := r.About()
	p.History = append(p.History, ProposalMove{Move: m, From: p.State, To: to, Actor: e.Actor, AtMs: e.TimestampMs,
		Reason: reason, EventIndex: e.Index})
	p.State = to
	return ""
}

// revise adds a revision. Every approval was of an earlier one, and is void from now on
// even where the bytes are the same: its giver was told another title or rationale.
func (p *Proposal) revise(e event.Event, r proposal.Revised) (why string) {
	switch next := int64(len(p.Revisions)) + 1; {
	case r.Revision != next:
		return fmt.Sprintf("it is revision %d where %d comes next", r.Revision, next)
	case r.Slot.Kind != p.Kind:
		return fmt.Sprintf("it is of the kind %q, and the proposal is of %q", r.Slot.Kind, p.Kind)
	}
	if why = p.move(e, proposal.MoveRevise, r); why != "" {
		return why
	}
	p.Revisions = append(p.Revisions, ProposalRevision{Revision: r.Revision, Artifact: r.Artifact, Slot: r.Slot,
		Version: r.Version,
		Title:   r.Title, Rationale: r.Rationale, Duplicates: r.Duplicates, Actor: e.Actor, AtMs: e.TimestampMs,
		Reason: r.Reason})
	for i := range p.Approvals {
		if a := &p.Approvals[i]; a.Void == "" {
			a.Void = fmt.Sprintf("It was given before revision %d.", r.Revision)
		}
	}
	return ""
}

// approve adds a person's consent to the revision that counts.
func (p *Proposal) approve(e event.Event, r proposal.Approved) (why string) {
	switch {
	case !p.State.Open():
		return fault.Of(proposal.CheckApprove(p.State)).Message
	case e.Actor.Kind != event.Human || r.Principal != proposal.NameOf(e.Actor):
		return "it was not given by the person that it names"
	case r.ApprovalID != e.ID:
		return "it has not the id of its event"
	case r.ArtifactSHA256 != p.Last().Artifact.SHA256:
		return "it is of other bytes than the last revision"
	}
	p.Approvals = append(p.Approvals, ProposalApproval{ApprovalID: r.ApprovalID, ArtifactSHA256: r.ArtifactSHA256,
		Principal: r.Principal,
		Role:      r.Role, Actor: e.Actor, AtMs: e.TimestampMs, Reason: r.Reason})
	return ""
}

// apply installs the last revision, where the record says what let it be (RFC 0096 E).
func (p *Proposal) apply(e event.Event, r proposal.Applied) (why string) {
	last := p.Last()
	switch {
	case r.ArtifactSHA256 != last.Artifact.SHA256:
		return "it is of other bytes than the last revision"
	case last.Slot.ID == "" || r.Slot != last.Slot ||
		r.InstalledRef != proposal.InstalledRef(last.Slot, last.Version, last.Artifact.SHA256):
		return "it names another place than the last revision"
	case r.Principal != proposal.NameOf(e.Actor):
		return "it was not done by the one that it names"
	case r.Override && e.Actor.Kind != event.Human:
		return "nobody but a person goes past the gate"
	case r.Mode == proposal.ApprovalGate && !r.Override && len(r.ApprovalIDs) == 0:
		return "it went through the gate, and nobody approved"
	case slices.ContainsFunc(r.ApprovalIDs, func(a id.Event) bool { return !p.approvedBy(a) }):
		return "it relies on an approval that does not count"
	}
	if why = p.move(e, proposal.MoveApply, r); why != "" {
		return why
	}
	p.History[len(p.History)-1].Override = r.Override
	p.applied, p.appliedAt = r, e.Index
	return ""
}

// approvedBy reports an approval of the last revision.
func (p *Proposal) approvedBy(a id.Event) bool {
	return slices.ContainsFunc(p.Approvals, func(given ProposalApproval) bool {
		return given.ApprovalID == a &&
			given.Void == ""
	})
}

// rollBack takes an installation out. A record that is wrong about what came back is
// believed all the same, since what is installed does not follow from it: to doubt it
// would keep in use what somebody took out.
func (p *Proposals) rollBack(one *Proposal, e event.Event, r proposal.RolledBack) (why string) {
	if one.State == proposal.StateApplied && r.Slot != one.applied.Slot {
		return "it names another place than where it was installed"
	}
	restored := p.RestoredBy(one)
	if why = one.move(e, proposal.MoveRollBack, r); why != "" {
		return why
	}
	if r.RestoredSHA256 != restored {
		p.find(manifest.BrokenReference, e, "event %d says that %q came back, and %q did", e.Index, r.RestoredSHA256,
			restored)
	}
	return ""
}
