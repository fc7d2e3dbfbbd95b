package proposal

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// Proposal is OpenWOP's wire object for a proposal, member for member
// (docs/design.md#proposals). DuplicateOf and Activation are always written, null if absent.
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

// WireActivation is the activation of a proposal: the last approval that counted, null if
// none did, and the ref of the installation.
type WireActivation struct {
	ApprovalID           *id.Event `json:"approvalId"`
	InstalledArtifactRef string    `json:"installedArtifactRef"`
}

// The names of the wire events. Their data contains no text of the proposal, and no member without a value.
const (
	WireCreatedName   = "proposal.created"
	WireActivatedName = "proposal.activated"
)

// WireCreated is the data of WireCreatedName.
type WireCreated struct {
	ProposalID   id.Proposal `json:"proposalId"`
	Kind         Kind        `json:"kind"`
	SourceRunIDs []id.Run    `json:"sourceRunIds"`
	DuplicateOf  *string     `json:"duplicateOf,omitzero"`
}

// WireActivated is the data of WireActivatedName.
type WireActivated struct {
	ProposalID           id.Proposal `json:"proposalId"`
	Kind                 Kind        `json:"kind"`
	ApprovalID           *id.Event   `json:"approvalId,omitzero"`
	InstalledArtifactRef string      `json:"installedArtifactRef"`
}

// OnWire returns the wire event for r.
func (r Created) OnWire() WireCreated {
	return WireCreated{r.ProposalID, r.Of, r.Provenance.SourceRunIDs, Nearest(r.Duplicates)}
}

// OnWire returns the wire event for r.
func (r Applied) OnWire() WireActivated {
	a := r.Activation()
	return WireActivated{r.ProposalID, r.Slot.Kind, a.ApprovalID, a.InstalledArtifactRef}
}

// Activation returns the wire object's activation for r.
func (r Applied) Activation() WireActivation {
	a := WireActivation{InstalledArtifactRef: r.InstalledRef}
	if n := len(r.ApprovalIDs); n > 0 {
		a.ApprovalID = &r.ApprovalIDs[n-1]
	}
	return a
}

// Nearest returns the ref of the most similar duplicate, the only one on the wire; nil if
// there are none.
func Nearest(all []Duplicate) *string {
	if len(all) == 0 {
		return nil
	}
	return &all[0].Ref
}
