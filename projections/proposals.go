package projections

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Proposal is one proposal as its log tells it.
type Proposal struct {
	ID          id.Proposal         `json:"proposalId"`
	Kind        proposal.Kind       `json:"kind"`
	State       proposal.State      `json:"state"`
	Owner       proposal.Owner      `json:"owner"`
	Provenance  proposal.Provenance `json:"provenance"`
	Revisions   []ProposalRevision  `json:"revisions"` // the oldest first; the last one counts
	Approvals   []ProposalApproval  `json:"approvals"` // as given, void ones too
	History     []ProposalMove      `json:"history"`   // as it went, from the creation on
	CreatedAtMs int64               `json:"createdAtMs"`
	UpdatedAtMs int64               `json:"updatedAtMs"` // of the last record about it

	applied   proposal.Applied // the last activation
	appliedAt int64            // its event index
}

// ProposalRevision is one version of what is proposed, with whoever wrote it and why.
type ProposalRevision struct {
	Revision   int64                `json:"revision"` // from 1
	Artifact   proposal.Artifact    `json:"artifact"`
	Slot       proposal.Slot        `json:"slot"`
	Version    string               `json:"version,omitzero"`
	Title      string               `json:"title,omitzero"`
	Rationale  string               `json:"rationale,omitzero"`
	Duplicates []proposal.Duplicate `json:"duplicates"` // the nearest first
	Actor      event.Actor          `json:"actor"`
	AtMs       int64                `json:"atMs"`
	Reason     string               `json:"reason"`
}

// ProposalApproval is one person's consent, and why it does not count any more.
type ProposalApproval struct {
	ApprovalID     id.Event     `json:"approvalId"`
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	Principal      string       `json:"principal"`
	Role           string       `json:"role"`
	Void           string       `json:"void,omitzero"` // "" where it counts, if its principal still may
	Actor          event.Actor  `json:"actor"`
	AtMs           int64        `json:"atMs"`
	Reason         string       `json:"reason"`
}

// ProposalMove is one step of a proposal's history. That of the creation has no move and
// comes from nowhere.
type ProposalMove struct {
	Move       proposal.Move  `json:"move,omitzero"`
	From       proposal.State `json:"from,omitzero"`
	To         proposal.State `json:"to"`
	Actor      event.Actor    `json:"actor"`
	AtMs       int64          `json:"atMs"`
	Reason     string         `json:"reason"`
	EventIndex int64          `json:"eventIndex"`
	Override   bool           `json:"override,omitzero"` // it went past the gate
}

// Last is the revision that counts.
func (p *Proposal) Last() ProposalRevision { return p.Revisions[len(p.Revisions)-1] }

// Activation is how the proposal came to be applied; ok is false unless it is.
func (p *Proposal) Activation() (a proposal.Applied, ok bool) {
	return p.applied, p.State == proposal.StateApplied
}

// Given are the approvals as a policy weighs them.
func (p *Proposal) Given() []proposal.Approval {
	out := make([]proposal.Approval, len(p.Approvals))
	for i, a := range p.Approvals {
		out[i] = proposal.Approval{ID: a.ApprovalID, ArtifactSHA256: a.ArtifactSHA256, Principal: a.Principal,
			Role: a.Role, Void: a.Void}
	}
	return out
}

// Proposals folds the proposals log. It believes no record that the model does not allow
// where it stands: whatever somebody wrote into the log by hand, nothing is applied but
// the bytes of a last revision, by a record that says what let it be. What was not
// believed is a finding.
type Proposals struct {
	Findings []manifest.Finding
	Head     manifest.Head

	log   manifest.Log
	all   map[id.Proposal]*Proposal
	order []*Proposal // as created
	blind bool
}

// NewProposals starts with an empty log.
func NewProposals(log manifest.Log) *Proposals {
	p := &Proposals{log: log}
	p.Reset()
	return p
}

// Reset implements ports.Visitor.
func (p *Proposals) Reset() { *p = Proposals{log: p.log, all: map[id.Proposal]*Proposal{}} }

// Visit implements ports.Visitor.
func (p *Proposals) Visit(seg manifest.Segment, head manifest.Head) error {
	p.Head = head
	for _, e := range seg.Events {
		p.fold(e)
	}
	return nil
}

// Blind reports a record of a form that this version does not know and that must not be
// passed over: it could have taken something out of use.
func (p *Proposals) Blind() bool { return p.blind }

func (p *Proposals) fold(e event.Event) {
	if e.Foreign() {
		p.blind = p.blind || !e.Ignorable
		p.find(manifest.UnknownEvents, e, "event %d (%s) has a form that this version does not know", e.Index,
			e.Data.Kind())
		return
	}
	r, ok := e.Data.(proposal.Record)
	if !ok {
		return
	}
	about, ordinal, _ := r.About()
	one, why := p.all[about], ""
	switch c, creates := r.(proposal.Created); {
	case ordinal != e.Index:
		why = "it says that it is another event" // a record that was copied from elsewhere
	case creates && one != nil:
		why = "the proposal was created before"
	case creates:
		p.create(e, c)
	case one == nil:
		why = "no such proposal was created"
	default:
		if why = p.act(one, e, r); why == "" {
			one.UpdatedAtMs = e.TimestampMs
		}
	}
	if why != "" {
		p.find(manifest.BrokenReference, e, "event %d (%s of %s) is not believed: %s", e.Index, r.Kind(), about, why)
	}
}

func (p *Proposals) create(e event.Event, c proposal.Created) {
	one := &Proposal{ID: c.ProposalID, Kind: c.Of, State: proposal.StateDraft, Owner: c.Owner, Provenance: c.Provenance,
		Approvals: []ProposalApproval{}, CreatedAtMs: e.TimestampMs, UpdatedAtMs: e.TimestampMs}
	one.Revisions = []ProposalRevision{{Revision: 1, Artifact: c.Artifact, Slot: c.Slot, Version: c.Version,
		Title:     c.Title,
		Rationale: c.Rationale, Duplicates: c.Duplicates, Actor: e.Actor, AtMs: e.TimestampMs, Reason: c.Reason}}
	one.History = []ProposalMove{{To: one.State, Actor: e.Actor, AtMs: e.TimestampMs, Reason: c.Reason,
		EventIndex: e.Index}}
	p.all[one.ID] = one
	p.order = append(p.order, one)
}

func (p *Proposals) find(code manifest.FindingCode, e event.Event, format string, args ...any) {
	f := manifest.NewFinding(code, p.log.Root, format, args...)
	f.Event = &e.Index
	p.Findings = append(p.Findings, f)
}
