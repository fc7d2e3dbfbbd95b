package proposals

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// applyRecord folds a record about an existing proposal. problem is "" if the record is accepted;
// otherwise it states why not, and the proposal is unchanged.
func (p *Log) applyRecord(prop *Proposal, e event.Event, r proposal.Record) (problem string) {
	switch r := r.(type) {
	case proposal.Revised:
		return prop.revise(e, r)
	case proposal.Approved:
		return prop.approve(e, r)
	case proposal.Applied:
		return p.apply(prop, e, r)
	case proposal.Rejected:
		return prop.transition(e, proposal.MoveReject, r)
	case proposal.Archived:
		return prop.transition(e, proposal.MoveArchive, r)
	case proposal.RolledBack:
		return p.rollBack(prop, e, r)
	}
	return "its kind is unknown"
}

// transition changes the state and adds to the history. Callers check everything else before, since
// a refused record must not change anything.
func (p *Proposal) transition(e event.Event, m proposal.Move, r proposal.Record) (problem string) {
	to, err := proposal.Next(p.State, m)
	if err != nil {
		return fault.Of(err).Message
	}
	p.History = append(p.History, Move{Move: m, From: p.State, To: to, Actor: e.Actor, AtMs: e.TimestampMs,
		Reason: r.About().Reason, EventIndex: e.Index})
	p.State = to
	return ""
}

// revise adds a revision and voids all approvals, even if the artifact has the same bytes: they
// were given with another title or rationale.
func (p *Proposal) revise(e event.Event, r proposal.Revised) (problem string) {
	switch next := int64(len(p.Revisions)) + 1; {
	case r.Revision != next:
		return fmt.Sprintf("its revision is %d, expected %d", r.Revision, next)
	case r.Slot.Kind != p.Kind:
		return fmt.Sprintf("its kind is %q, the kind of the proposal is %q", r.Slot.Kind, p.Kind)
	}
	if problem = p.transition(e, proposal.MoveRevise, r); problem != "" {
		return problem
	}
	p.Revisions = append(p.Revisions, Revision{Revision: r.Revision, Artifact: r.Artifact, Slot: r.Slot,
		Version: r.Version,
		Title:   r.Title, Rationale: r.Rationale, Replaces: r.Replaces, Duplicates: r.Duplicates, Actor: e.Actor, AtMs: e.TimestampMs,
		Reason: r.Reason})
	for i := range p.Approvals {
		if a := &p.Approvals[i]; a.Void == "" {
			a.Void = fmt.Sprintf("It was given before revision %d.", r.Revision)
		}
	}
	return ""
}

// approve adds a person's approval of the last revision. The actor has to be human, and the artifact
// that of the last revision. In records without a policy the principal is the name of the actor.
func (p *Proposal) approve(e event.Event, r proposal.Approved) (problem string) {
	switch {
	case !p.State.Open():
		return fault.Of(proposal.CheckApprove(p.State)).Message
	case e.Actor.Kind != event.Human || r.PolicyDigest.IsZero() && r.Principal != proposal.NameOf(e.Actor):
		return "its actor is not the person that it names"
	case r.ApprovalID != e.ID:
		return "its approvalId is not the id of its event"
	case r.ArtifactSHA256 != p.Last().Artifact.SHA256:
		return "its artifact is not that of the last revision"
	case r.Replaces != p.Last().Replaces:
		return "what it replaces is not what the last revision replaces"
	}
	p.Approvals = append(p.Approvals, Approval{ApprovalID: r.ApprovalID, ArtifactSHA256: r.ArtifactSHA256,
		Principal: r.Principal,
		Role:      r.Role, Replaces: r.Replaces, Terms: r.Terms, Given: r.Given, Actor: e.Actor, AtMs: e.TimestampMs, Reason: r.Reason})
	return ""
}

// apply marks the last revision as installed. The record has to name artifact, slot and reference
// of that revision, and the permission: approvals that count, an override by a person, or a policy
// without a gate (docs/design.md#proposals).
func (p *Log) apply(prop *Proposal, e event.Event, r proposal.Applied) (problem string) {
	last := prop.Last()
	switch {
	case r.ArtifactSHA256 != last.Artifact.SHA256:
		return "its artifact is not that of the last revision"
	// A revision without a slot id cannot be installed.
	case last.Slot.ID == "" || r.Slot != last.Slot ||
		r.InstalledRef != proposal.InstalledRef(last.Slot, last.Version, last.Artifact.SHA256):
		return "its slot or reference is not that of the last revision"
	case r.Replaces != last.Replaces:
		return "what it replaces is not what the last revision replaces"
	case r.PolicyDigest.IsZero() && r.Principal != proposal.NameOf(e.Actor):
		return "its actor is not the principal that it names"
	case r.Override && e.Actor.Kind != event.Human:
		return "only a person may override the gate"
	case r.Mode == proposal.ApprovalGate && !r.Override && len(r.ApprovalIDs) == 0:
		return "it passed the gate without an approval"
	case slices.ContainsFunc(r.ApprovalIDs, func(a id.Event) bool { return !prop.approvedBy(a) }):
		return "it names an approval that is void or unknown"
	case !r.PolicyDigest.IsZero() && !prop.metBy(r.ApprovalIDs):
		return "the approvals that it names do not meet the policies in force when they were given"
	}
	before := p.inUse(slotKeyOf(prop))
	if problem = prop.transition(e, proposal.MoveApply, r); problem != "" {
		return problem
	}
	move := &prop.History[len(prop.History)-1]
	move.Override, move.Principal = r.Override, r.Principal
	prop.applied, prop.appliedAt, prop.appliedBy, prop.replaced = r, e.Index, e.ID, replacedFiles(r.Replaces, before)
	return ""
}

// replacedFiles returns the files that an activation is used instead of: the one that it names, and those of
// what was in use in its slot until then, which a person took out of use before. The newest digest of a place counts.
func replacedFiles(own proposal.Replaces, before *Proposal) (out []proposal.Replaces) {
	if own.IsFile() {
		out = append(out, own)
	}
	if before == nil {
		return out
	}
	for _, r := range before.replaced {
		if r.SourceKind != own.SourceKind || r.SourceRef != own.SourceRef {
			out = append(out, r)
		}
	}
	return out
}

// approvedBy reports whether an approval exists and is not void.
func (p *Proposal) approvedBy(a id.Event) bool {
	return slices.ContainsFunc(p.Approvals, func(given Approval) bool {
		return given.ApprovalID == a &&
			given.Void == ""
	})
}

// metBy reports whether approvals meet the policies under which they were given: each states its
// policy, no more approvals were required than are named, and no two are from one person.
func (p *Proposal) metBy(ids []id.Event) bool {
	var met []proposal.Approval
	for _, a := range p.PolicyApprovals() {
		if !slices.Contains(ids, a.ID) {
			continue
		}
		same := func(b proposal.Approval) bool { return proposal.SamePerson(a, b) }
		if a.PolicyDigest.IsZero() || a.Quorum > int64(len(ids)) || slices.ContainsFunc(met, same) {
			return false
		}
		met = append(met, a)
	}
	return true
}

// rollBack removes an installation. A record with a wrong RestoredSHA256 is reported and accepted
// all the same: what is installed is computed and does not depend on that field, and ignoring the
// record would keep an artifact in use that was rolled back.
func (p *Log) rollBack(prop *Proposal, e event.Event, r proposal.RolledBack) (problem string) {
	if prop.State == proposal.StateApplied && r.Slot != prop.applied.Slot {
		return "its slot is not that of the activation"
	}
	// Computed before the transition: afterwards the proposal is no longer the installed one.
	restored := p.RestoredDigest(prop)
	if problem = prop.transition(e, proposal.MoveRollBack, r); problem != "" {
		return problem
	}
	if r.RestoredSHA256 != restored {
		p.addFinding(manifest.BrokenReference, e, "event %d records that %q was restored, but it was %q",
			e.Index, r.RestoredSHA256, restored)
	}
	return ""
}
