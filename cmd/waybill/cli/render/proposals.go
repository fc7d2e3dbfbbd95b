package render

import (
	"cmp"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// ProposalTitle returns the title of a proposal, or its kind and short id if it has none.
func ProposalTitle(w proposal.Proposal) string {
	return cmp.Or(w.Title, string(w.Kind)+" "+page.ShortProposal(w.ID))
}
