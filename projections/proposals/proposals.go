// Package proposals folds the proposals log of a store into proposals with their revisions,
// approvals and history (Log, Proposal), and into what is installed by them (Installation). See
// docs/design.md#proposals.
//
// It decides nothing: whether an approval counts is package proposal's rule, and only the records
// of the log determine what is installed.
package proposals

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Proposal is the fold of the records of one proposal (docs/design.md#proposals). State follows
// from the records alone. The artifact of a revision is named by its digest; its bytes are an
// object of the store, which this package does not read.
type Proposal struct {
	ID          id.Proposal         `json:"proposalId"`
	Kind        proposal.Kind       `json:"kind"`
	State       proposal.State      `json:"state"`
	Owner       proposal.Owner      `json:"owner"`
	Provenance  proposal.Provenance `json:"provenance"`
	Revisions   []Revision          `json:"revisions"` // oldest first, at least one; the last one is in force
	Approvals   []Approval          `json:"approvals"` // in the order of the log, with the void ones
	History     []Move              `json:"history"`   // in the order of the log, starting with the creation
	CreatedAtMs int64               `json:"createdAtMs"`
	UpdatedAtMs int64               `json:"updatedAtMs"` // time of the last accepted record

	store     string              // the owner of the log
	signed    []canon.Digest      // of the texts that were signed for decisions
	applied   proposal.Applied    // the last activation
	appliedAt int64               // its event index
	appliedBy id.Event            // its event
	replaced  []proposal.Replaces // the files that it is used instead of
}

// Revision is one version of the proposed artifact, with its author and the stated reason.
type Revision struct {
	Revision   int64                `json:"revision"` // from 1
	Artifact   proposal.Artifact    `json:"artifact"`
	Slot       proposal.Slot        `json:"slot"`
	Version    string               `json:"version,omitzero"`
	Title      string               `json:"title,omitzero"`
	Rationale  string               `json:"rationale,omitzero"`
	Replaces   proposal.Replaces    `json:"replaces,omitzero"`
	Duplicates []proposal.Duplicate `json:"duplicates"` // nearest first
	Actor      event.Actor          `json:"actor"`
	AtMs       int64                `json:"atMs"`
	Reason     string               `json:"reason"`
}

// Approval is one person's approval of one artifact.
type Approval struct {
	ApprovalID     id.Event          `json:"approvalId"`
	ArtifactSHA256 canon.Digest      `json:"artifactSha256"`
	Principal      string            `json:"principal"`
	Replaces       proposal.Replaces `json:"replaces,omitzero"`
	Role           string            `json:"role"`
	proposal.Terms
	consent.Given
	// Void is why the approval no longer counts, "" if it counts while its principal has the role.
	Void   string      `json:"void,omitzero"`
	Actor  event.Actor `json:"actor"`
	AtMs   int64       `json:"atMs"`
	Reason string      `json:"reason"`
}

// Move is one transition of a proposal's state. The creation has neither Move nor From.
type Move struct {
	Move       proposal.Move  `json:"move,omitzero"`
	From       proposal.State `json:"from,omitzero"`
	To         proposal.State `json:"to"`
	Actor      event.Actor    `json:"actor"`
	Principal  string         `json:"principal,omitzero"` // that applied it
	AtMs       int64          `json:"atMs"`
	Reason     string         `json:"reason"`
	EventIndex int64          `json:"eventIndex"`
	Override   bool           `json:"override,omitzero"` // applied although the gate refused
}

// Last returns the revision in force.
func (p *Proposal) Last() Revision { return p.Revisions[len(p.Revisions)-1] }

// Activation returns the last activation; ok is false unless the proposal is applied.
func (p *Proposal) Activation() (a proposal.Applied, ok bool) {
	return p.applied, p.State == proposal.StateApplied
}

// IsUsed reports that a signed text is stored with a decision about the proposal.
func (p *Proposal) IsUsed(text canon.Digest) bool { return slices.Contains(p.signed, text) }

// PolicyApprovals returns the approvals in the form that a policy evaluates, with the void ones.
func (p *Proposal) PolicyApprovals() []proposal.Approval {
	out := make([]proposal.Approval, len(p.Approvals))
	for i, a := range p.Approvals {
		out[i] = proposal.Approval{ID: a.ApprovalID, ArtifactSHA256: a.ArtifactSHA256, Principal: a.Principal,
			Role: a.Role, Replaces: a.Replaces, Void: a.Void, Terms: a.Terms, Given: a.Given, AtMs: a.AtMs, Reason: a.Reason,
			Place: proposal.Place{Store: p.store, Proposal: p.ID}}
	}
	return out
}

// Log folds the proposals log of a store. It ignores records that the state machine of
// proposals does not allow at their position, so that records written by hand cannot install
// anything but the artifact of a last revision, by a record that states its permission. Each
// ignored record is a finding.
type Log struct {
	Findings []manifest.Finding
	Head     manifest.Head

	log        manifest.Log
	all        map[id.Proposal]*Proposal
	order      []*Proposal // in the order of their creation
	hasUnknown bool        // see HasUnknownRecords
}

// NewLog returns the fold of an empty log. log names it in findings.
func NewLog(log manifest.Log) *Log { return &Log{log: log, all: map[id.Proposal]*Proposal{}} }

// Store returns the id of the store that owns the log.
func (p *Log) Store() string { return p.log.Owner }

// Visit implements ports.Visitor. It never returns an error.
func (p *Log) Visit(seg manifest.Segment, head manifest.Head) error {
	p.Head = head
	for _, e := range seg.Events {
		p.fold(e)
	}
	return nil
}

// HasUnknownRecords reports a record of an unknown form that is not ignorable. Such a record may have rolled
// something back; Installed then lists nothing.
func (p *Log) HasUnknownRecords() bool { return p.hasUnknown }

// fold folds one record, or reports why it is ignored.
func (p *Log) fold(e event.Event) {
	if e.Foreign() {
		p.hasUnknown = p.hasUnknown || !e.Ignorable
		p.addFinding(manifest.UnknownEvents, e, "event %d (%s) has a form that is unknown to this version", e.Index,
			e.Data.Kind())
		return
	}
	r, ok := e.Data.(proposal.Record)
	if !ok {
		return
	}
	about := r.About()
	// problem states why the record is ignored, as the end of a sentence; "" accepts it.
	prop, problem := p.all[about.ProposalID], ""
	switch c, creates := r.(proposal.Created); {
	case about.Ordinal != e.Index:
		problem = "its ordinal is not its event index" // the record was copied from another position
	case creates && prop != nil:
		problem = "the proposal was already created"
	case creates:
		p.create(e, c)
	case prop == nil:
		problem = "the proposal was never created"
	default:
		if problem = p.applyRecord(prop, e, r); problem == "" {
			prop.UpdatedAtMs = e.TimestampMs
			if signed, ok := r.(interface {
				IsSigned() bool
				SignedDigest() canon.Digest
			}); ok && signed.IsSigned() {
				prop.signed = append(prop.signed, signed.SignedDigest())
			}
		}
	}
	if problem != "" {
		p.addFinding(manifest.BrokenReference, e, "event %d (%s of %s) is ignored: %s", e.Index, r.Kind(),
			about.ProposalID, problem)
	}
}

// create adds a proposal in state draft with its first revision. The caller has checked that no
// proposal has this id.
func (p *Log) create(e event.Event, c proposal.Created) {
	prop := &Proposal{store: p.log.Owner, ID: c.ProposalID, Kind: c.Of, State: proposal.StateDraft, Owner: c.Owner,
		Provenance: c.Provenance,
		Approvals:  []Approval{}, CreatedAtMs: e.TimestampMs, UpdatedAtMs: e.TimestampMs}
	prop.Revisions = []Revision{{Revision: 1, Artifact: c.Artifact, Slot: c.Slot, Version: c.Version,
		Title:     c.Title,
		Rationale: c.Rationale, Replaces: c.Replaces, Duplicates: c.Duplicates, Actor: e.Actor, AtMs: e.TimestampMs, Reason: c.Reason}}
	prop.History = []Move{{To: prop.State, Actor: e.Actor, AtMs: e.TimestampMs, Reason: c.Reason,
		EventIndex: e.Index}}
	p.all[prop.ID] = prop
	p.order = append(p.order, prop)
}

// addFinding records a finding about the event e.
func (p *Log) addFinding(code manifest.FindingCode, e event.Event, format string, args ...any) {
	p.Findings = append(p.Findings, manifest.NewFinding(code, p.log.Root, format, args...).AtEvent(e.Index))
}
