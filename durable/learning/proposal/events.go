package proposal

import (
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Table lists the kinds of events of the proposals log, a side log of the store in its
// directory "proposals".
var Table = event.NewTable("proposals", "storeId",
	event.Row[Created](event.NoScope),
	event.Row[Revised](event.NoScope),
	event.Row[Approved](event.NoScope),
	event.Row[Applied](event.NoScope),
	event.Row[Rejected](event.NoScope),
	event.Row[Archived](event.NoScope),
	event.Row[RolledBack](event.NoScope),
)

// Subject is what every record states: its proposal and a reason. Ordinal is the event's own index:
// the dedupeKey is computed from the data alone, and the same action may be repeated on a proposal
// later.
type Subject struct {
	Ordinal    int64       `json:"ordinal"`
	ProposalID id.Proposal `json:"proposalId"`
	Reason     string      `json:"reason"`
}

// About implements Record.
func (s Subject) About() Subject { return s }

// Content is what a revision proposes.
type Content struct {
	Artifact   Artifact    `json:"artifact"`
	Duplicates []Duplicate `json:"duplicates"` // most similar first
	Rationale  string      `json:"rationale,omitzero"`
	Replaces   Replaces    `json:"replaces,omitzero"` // additive
	Slot       Slot        `json:"slot"`
	Title      string      `json:"title,omitzero"`
	Version    string      `json:"version,omitzero"`
}

// Created records a new proposal with its first revision.
type Created struct {
	Subject
	Content
	Of         Kind       `json:"kind"`
	Owner      Owner      `json:"owner"`
	Provenance Provenance `json:"provenance"`
}

// Revised records a further revision; its values replace those of the previous one.
type Revised struct {
	Subject
	Content
	Revision int64 `json:"revision"` // from 2
}

// Approved records one person's consent to exactly the bytes of one revision, and to what they replace. ApprovalID is
// the id of the event itself. Principal is the one that the caller's account is bound to, or "human"
// while none is bound; the name that the caller gave is the actor's of the event.
type Approved struct {
	Subject
	ApprovalID     id.Event     `json:"approvalId"`
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	Principal      string       `json:"principal"`
	Replaces       Replaces     `json:"replaces,omitzero"` // additive: that of the revision
	Role           string       `json:"role"`              // the role that was required and held
	Terms                       // additive
	consent.Given               // additive: the signature of the principal
}

// Applied records an activation: the artifact is installed from here on.
type Applied struct {
	Subject
	ApprovalIDs    []id.Event   `json:"approvalIds"` // the approvals that counted
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	InstalledRef   string       `json:"installedRef"`
	Mode           Mode         `json:"mode"`
	Override       bool         `json:"override"`              // the approval gate was bypassed
	PolicyDigest   canon.Digest `json:"policyDigest,omitzero"` // additive: of the policy in force
	Principal      string       `json:"principal"`
	Replaces       Replaces     `json:"replaces,omitzero"` // additive: that of the revision
	Slot           Slot         `json:"slot"`
	consent.Given               // additive: the signature of the principal, without approvals
}

// Rejected records a reviewer's refusal.
type Rejected struct{ Subject }

// Archived removes a proposal from the open ones.
type Archived struct{ Subject }

// RolledBack records that an installation was removed. RestoredSHA256 is the artifact that
// replaces it in the slot, zero if the slot is empty again.
type RolledBack struct {
	Subject
	PolicyDigest   canon.Digest `json:"policyDigest,omitzero"` // additive: of the policy in force, if it is signed
	RestoredSHA256 canon.Digest `json:"restoredSha256,omitzero"`
	Slot           Slot         `json:"slot"`
	consent.Given               // additive
}

// Record is implemented by every payload of the log.
type Record interface {
	event.Payload
	// About returns the proposal, the event index that the record states, and its reason.
	About() Subject
}

// Kind is "proposal_created".
func (Created) Kind() string { return "proposal_created" }

// Kind is "proposal_revised".
func (Revised) Kind() string { return "proposal_revised" }

// Kind is "proposal_approved".
func (Approved) Kind() string { return "proposal_approved" }

// Kind is "proposal_applied".
func (Applied) Kind() string { return "proposal_applied" }

// Kind is "proposal_rejected".
func (Rejected) Kind() string { return "proposal_rejected" }

// Kind is "proposal_archived".
func (Archived) Kind() string { return "proposal_archived" }

// Kind is "proposal_rolled_back".
func (RolledBack) Kind() string { return "proposal_rolled_back" }

// DedupeKey allows one record of the kind per proposal and event index.
func (r Created) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey is like that of Created.
func (r Revised) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey is like that of Created.
func (r Approved) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey is like that of Created.
func (r Applied) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey is like that of Created.
func (r Rejected) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey is like that of Created.
func (r Archived) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey is like that of Created.
func (r RolledBack) DedupeKey(string, event.Scope) string { return key(r) }

// key is the dedupeKey of a record: "<kind>:<proposal>:<ordinal>".
func key(r Record) string {
	about := r.About()
	return r.Kind() + ":" + about.ProposalID.String() + ":" + strconv.FormatInt(about.Ordinal, 10)
}

// LogOf is the log of the proposals of a store.
func LogOf(s id.Store) manifest.Log { return manifest.StoreLog(s, Table) }
