package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/store/trust"
)

// TrustList prints trusted workflow versions: each with the number of its commands, who trusted it,
// since when and in which repository or folder. An entry of an earlier version has no folder and
// does not count.
func TrustList(p *page.Page, list trust.List) {
	var rows [][]page.Cell
	for _, e := range list.Entries {
		// The kind is shown with the name, since callers choose their names.
		by := string(e.Actor.Kind)
		if e.Actor.Ref != "" {
			by = e.Actor.Ref + " (" + by + ")"
		}
		root := e.Root
		if root == "" {
			root = "none: asked again"
		}
		rows = append(rows, []page.Cell{{Text: e.WorkflowID}, {Text: page.ShortDigest(e.WorkflowHash)},
			{Text: page.Plural(int(e.Commands), "command")},
			{Text: by}, {Text: page.ClockTime(e.AtMs, "2006-01-02 15:04")}, {Text: root}})
	}
	p.Table([]page.Column{{Title: "WORKFLOW", Flex: true}, {Title: "HASH"}, {Title: "ALLOWS"}, {Title: "BY"},
		{Title: "SINCE"}, {Title: "IN", Flex: true}}, rows)
}
