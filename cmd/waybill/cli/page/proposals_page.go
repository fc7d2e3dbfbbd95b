package page

import (
	"strings"

	"github.com/waybill/waybill/durable/id"
)

// ShortProposal is as much of an id as a person types.
func ShortProposal(p id.Proposal) string {
	_, name, _ := strings.Cut(p.String(), "_")
	return name[:min(len(name), 8)]
}
