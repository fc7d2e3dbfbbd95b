package proposals

import (
	"slices"

	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
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
		_, err := signers.Check(r.Given, r.Consented(proposal.Place{Store: prop.store, Proposal: prop.ID}), i.AtMs)
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

// IsPermitted reports whether an installation was permitted under the policy of its moment to those who signed: an
// activation to one with the scope, else approvals that suffice. What a record states of a quorum or a scope is not
// signed. A policy without signers requires no signature, and permits what the log accepted.
func (p *Log) IsPermitted(i Installation, policy proposal.Policy) bool {
	signers := policy.Signers()
	if signers.IsZero() {
		return true
	}
	if !p.IsSigned(i, signers) {
		return false
	}
	prop := p.all[i.ProposalID]
	r := prop.applied
	if !r.IsSigned() {
		named := slices.DeleteFunc(prop.PolicyApprovals(), func(a proposal.Approval) bool { return !slices.Contains(r.ApprovalIDs, a.ID) })
		return policy.Mode == proposal.ApprovalGate && policy.Gate(r.ArtifactSHA256, named).Granted()
	}
	by, err := signers.Check(r.Given, r.Consented(proposal.Place{Store: prop.store, Proposal: prop.ID}), i.AtMs)
	who := proposal.Caller{Human: true, Signer: by}
	if policy.Mode == proposal.DirectRBAC {
		return err == nil && policy.CheckScope(who, config.ScopeApply) == nil
	}
	return err == nil && policy.CheckOverride(who, r.Reason) == nil
}
