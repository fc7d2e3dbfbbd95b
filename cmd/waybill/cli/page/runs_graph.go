package page

import (
	"strings"

	"github.com/waybill/waybill/durable/id"
)

// ShortNode is as much of a node's id as --at needs, nearly always.
func ShortNode(n id.Node) string {
	s := strings.TrimPrefix(n.String(), "node_")
	return s[:min(len(s), ShortRunLen)]
}
