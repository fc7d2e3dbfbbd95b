package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// ProposalTitle returns the title of a proposal, or its kind and short id if it has none.
func ProposalTitle(w proposal.Proposal) string {
	if w.Title != "" {
		return w.Title
	}
	return string(w.Kind) + " " + page.ShortProposal(w.ID)
}
