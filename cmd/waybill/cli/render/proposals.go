package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/learning/proposal"
)

func ProposalTitle(w proposal.Proposal) string {
	if w.Title != "" {
		return w.Title
	}
	return string(w.Kind) + " " + page.ShortProposal(w.ID)
}
