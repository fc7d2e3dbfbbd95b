package proposals

import (
	"slices"

	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// Record returns the id of the record that installed what is in use.
func (i Installation) Record() id.Event { return i.record }

// IsSigned reports whether an installation has the consent of signers: the record itself is signed, or each
// approval that it names is. Without signers it needs none.
func (p *Log) IsSigned(i Installation, signers consent.Signers) bool {
	prop := p.all[i.ProposalID]
	if signers.IsZero() {
		return true
	}
	if prop == nil {
		return false
	}
	r := prop.applied
	if r.IsSigned() {
		_, err := signers.Check(r.Given, proposal.ActivationSubject(consent.ActivateProposal,
			proposal.Place{Store: prop.store, Proposal: prop.ID}, r.PolicyDigest, r.ArtifactSHA256, r.Reason), i.AtMs)
		return err == nil
	}
	named := 0
	for _, a := range prop.PolicyApprovals() {
		if !slices.Contains(r.ApprovalIDs, a.ID) {
			continue
		}
		if _, err := signers.Check(a.Given, a.Subject(), a.AtMs); err != nil {
			return false
		}
		named++
	}
	return named > 0 && named == len(r.ApprovalIDs)
}
