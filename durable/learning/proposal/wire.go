package proposal

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// Proposal is the wire object of RFC 0096 B, member for member. DuplicateOf and
// Activation are always written: null says that there is none.
type Proposal struct {
	ID          id.Proposal     `json:"id"`
	Kind        Kind            `json:"kind"`
	State       State           `json:"state"`
	Title       string          `json:"title,omitzero"`
	Rationale   string          `json:"rationale,omitzero"`
	Artifact    canon.Value     `json:"artifact"`
	Provenance  Provenance      `json:"provenance"`
	DuplicateOf *string         `json:"duplicateOf"`
	Owner       Owner           `json:"owner"`
	Activation  *WireActivation `json:"activation"`
	CreatedAt   string          `json:"createdAt"` // RFC 3339, milliseconds, UTC
	UpdatedAt   string          `json:"updatedAt"`
}

// WireActivation says what let it be applied and what it is called since. ApprovalID is
// the last approval that it took, null where none did.
type WireActivation struct {
	ApprovalID           *id.Event `json:"approvalId"`
	InstalledArtifactRef string    `json:"installedArtifactRef"`
}

// The names of the events on the wire (RFC 0096 D). Neither holds any content.
const (
	WireCreatedName   = "proposal.created"
	WireActivatedName = "proposal.activated"
)

// WireCreated is the data of proposal.created.
type WireCreated struct {
	ProposalID   id.Proposal `json:"proposalId"`
	Kind         Kind        `json:"kind"`
	SourceRunIDs []id.Run    `json:"sourceRunIds"`
	DuplicateOf  *string     `json:"duplicateOf"`
}

// WireActivated is the data of proposal.activated.
type WireActivated struct {
	ProposalID           id.Proposal `json:"proposalId"`
	Kind                 Kind        `json:"kind"`
	ApprovalID           *id.Event   `json:"approvalId"`
	InstalledArtifactRef string      `json:"installedArtifactRef"`
}

// OnWire is the event that announces r.
func (r Created) OnWire() WireCreated {
	return WireCreated{r.ProposalID, r.Of, r.Provenance.SourceRunIDs, Nearest(r.Duplicates)}
}

// OnWire is the event that announces r.
func (r Applied) OnWire() WireActivated {
	a := r.Activation()
	return WireActivated{r.ProposalID, r.Slot.Kind, a.ApprovalID, a.InstalledArtifactRef}
}

// Activation is r as the wire object tells it.
func (r Applied) Activation() WireActivation {
	a := WireActivation{InstalledArtifactRef: r.InstalledRef}
	if n := len(r.ApprovalIDs); n > 0 {
		a.ApprovalID = &r.ApprovalIDs[n-1]
	}
	return a
}

// Nearest is the one likeness that the wire has room for: the first; nil where there is
// none.
func Nearest(all []Duplicate) *string {
	if len(all) == 0 {
		return nil
	}
	return &all[0].Ref
}
