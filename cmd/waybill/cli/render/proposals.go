package render

import (
	"cmp"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
)

// ProposalTitle returns the title of a proposal, or its kind and short id if it has none.
func ProposalTitle(w proposal.Proposal) string {
	return cmp.Or(w.Title, string(w.Kind)+" "+page.ShortProposal(w.ID))
}

// Principal returns the principal of a record like ActorAndKind, and the name that the caller gave
// itself where that is another one. principal is "" in records that have none.
func Principal(principal string, a event.Actor) string {
	if principal == "" || principal == a.Ref || principal == string(a.Kind) && a.Ref == "" {
		return ActorAndKind(a)
	}
	text := ActorAndKind(event.Actor{Kind: a.Kind, Ref: principal})
	if principal == string(a.Kind) {
		text = principal
	}
	if a.Ref != "" {
		text += ", as " + page.Clean(a.Ref)
	}
	return text
}
