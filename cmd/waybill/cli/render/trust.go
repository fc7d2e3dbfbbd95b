package render

import (
	"cmp"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/store/trust"
)

// TrustList prints trusted workflow versions: each with its source, the number of its commands, who
// trusted it, since when and in which repository or folder. An entry of an earlier version has no
// folder and does not count.
func TrustList(p *page.Page, list document.Trusted) {
	var rows [][]page.Cell
	for _, e := range list.Entries {
		root := e.Root
		if root == "" {
			root = "none: asked again"
		}
		rows = append(rows, []page.Cell{{Text: e.WorkflowID}, {Text: cmp.Or(e.Source, "not found")}, {Text: page.ShortDigest(e.WorkflowHash)},
			{Text: page.Plural(int(e.Commands), "command")},
			{Text: trustedBy(e.Entry)}, {Text: page.ClockTime(e.AtMs, "2006-01-02 15:04")}, {Text: root}})
	}
	p.Table([]page.Column{{Title: "WORKFLOW", Flex: true}, {Title: "SOURCE", Flex: true}, {Title: "HASH"}, {Title: "ALLOWS"}, {Title: "BY"},
		{Title: "SINCE"}, {Title: "IN", Flex: true}}, rows)
}

// trustedBy names who trusted a version. The kind is shown with the name, since callers choose their
// names.
func trustedBy(e trust.Entry) string {
	if e.Actor.Ref != "" {
		return e.Actor.Ref + " (" + string(e.Actor.Kind) + ")"
	}
	return string(e.Actor.Kind)
}

// TrustEntries prints what TrustList prints without omitting anything, for a question whose answer
// confirms the list.
func TrustEntries(p *page.Page, list trust.List) {
	for _, e := range list.Entries {
		p.Text("  ", page.Argument(e.WorkflowID)+" "+e.WorkflowHash.String()+": "+
			page.Plural(int(e.Commands), "command")+", trusted by "+page.Name(trustedBy(e))+" on "+
			page.ClockTime(e.AtMs, "2006-01-02 15:04"))
		if e.Root == "" {
			p.Line("    in no repository or folder: asked again")
			continue
		}
		p.Verbatim("    in ", page.Argument(e.Root), page.Plain)
	}
	if len(list.Entries) == 0 {
		p.Line("  none")
	}
}
