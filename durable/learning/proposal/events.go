package proposal

import (
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Table is the closed union of the proposals log: the store's, in its folder "proposals".
var Table = event.NewTable("proposals", "storeId",
	event.Row[Created](event.NoScope),
	event.Row[Revised](event.NoScope),
	event.Row[Approved](event.NoScope),
	event.Row[Applied](event.NoScope),
	event.Row[Rejected](event.NoScope),
	event.Row[Archived](event.NoScope),
	event.Row[RolledBack](event.NoScope),
)

// Every record names its proposal and says why. Ordinal is the index of the event
// itself: it stands in the data because the dedupeKey is made of data alone, and the
// same thing may be done to a proposal again after others.

// Created is a new proposal: its first revision.
type Created struct {
	Artifact   Artifact    `json:"artifact"`
	Duplicates []Duplicate `json:"duplicates"` // the nearest first
	Of         Kind        `json:"kind"`
	Ordinal    int64       `json:"ordinal"`
	Owner      Owner       `json:"owner"`
	ProposalID id.Proposal `json:"proposalId"`
	Provenance Provenance  `json:"provenance"`
	Rationale  string      `json:"rationale,omitzero"`
	Reason     string      `json:"reason"`
	Slot       Slot        `json:"slot"`
	Title      string      `json:"title,omitzero"`
	Version    string      `json:"version,omitzero"`
}

// Revised is a further revision, with every value as it is from now on.
type Revised struct {
	Artifact   Artifact    `json:"artifact"`
	Duplicates []Duplicate `json:"duplicates"`
	Ordinal    int64       `json:"ordinal"`
	ProposalID id.Proposal `json:"proposalId"`
	Rationale  string      `json:"rationale,omitzero"`
	Reason     string      `json:"reason"`
	Revision   int64       `json:"revision"` // 2, 3, …
	Slot       Slot        `json:"slot"`
	Title      string      `json:"title,omitzero"`
	Version    string      `json:"version,omitzero"`
}

// Approved is one person's consent to exactly the bytes of one revision. ApprovalID is
// the id of the event itself.
type Approved struct {
	ApprovalID     id.Event     `json:"approvalId"`
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	Ordinal        int64        `json:"ordinal"`
	Principal      string       `json:"principal"`
	ProposalID     id.Proposal  `json:"proposalId"`
	Reason         string       `json:"reason"`
	Role           string       `json:"role"` // that was asked for, and held
}

// Applied is the activation: from here on the artifact is installed.
type Applied struct {
	ApprovalIDs    []id.Event   `json:"approvalIds"` // those that counted
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	InstalledRef   string       `json:"installedRef"`
	Mode           Mode         `json:"mode"`
	Ordinal        int64        `json:"ordinal"`
	Override       bool         `json:"override"` // somebody went past the gate
	Principal      string       `json:"principal"`
	ProposalID     id.Proposal  `json:"proposalId"`
	Reason         string       `json:"reason"`
	Slot           Slot         `json:"slot"`
}

// Rejected is a refusal by whoever reviewed it.
type Rejected struct {
	Ordinal    int64       `json:"ordinal"`
	ProposalID id.Proposal `json:"proposalId"`
	Reason     string      `json:"reason"`
}

// Archived puts a proposal away.
type Archived struct {
	Ordinal    int64       `json:"ordinal"`
	ProposalID id.Proposal `json:"proposalId"`
	Reason     string      `json:"reason"`
}

// RolledBack takes an installation out again. RestoredSHA256 is the artifact that is in
// its slot afterwards and was not before; zero where none came back.
type RolledBack struct {
	Ordinal        int64        `json:"ordinal"`
	ProposalID     id.Proposal  `json:"proposalId"`
	Reason         string       `json:"reason"`
	RestoredSHA256 canon.Digest `json:"restoredSha256,omitzero"`
	Slot           Slot         `json:"slot"`
}

// Record is what every payload of the log has.
type Record interface {
	event.Payload
	// About gives the proposal, the index that the record says it has, and its reason.
	About() (p id.Proposal, ordinal int64, reason string)
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

// About implements Record.
func (r Created) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// About implements Record.
func (r Revised) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// About implements Record.
func (r Approved) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// About implements Record.
func (r Applied) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// About implements Record.
func (r Rejected) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// About implements Record.
func (r Archived) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// About implements Record.
func (r RolledBack) About() (id.Proposal, int64, string) { return r.ProposalID, r.Ordinal, r.Reason }

// DedupeKey allows one per place in the log, as that of every record.
func (r Created) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey allows one per place in the log.
func (r Revised) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey allows one per place in the log.
func (r Approved) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey allows one per place in the log.
func (r Applied) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey allows one per place in the log.
func (r Rejected) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey allows one per place in the log.
func (r Archived) DedupeKey(string, event.Scope) string { return key(r) }

// DedupeKey allows one per place in the log.
func (r RolledBack) DedupeKey(string, event.Scope) string { return key(r) }

func key(r Record) string {
	p, ordinal, _ := r.About()
	return r.Kind() + ":" + p.String() + ":" + strconv.FormatInt(ordinal, 10)
}
