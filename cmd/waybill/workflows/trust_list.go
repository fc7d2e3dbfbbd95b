package workflows

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
)

// listTrust prints the document "trusted": everything that is trusted in the store.
func listTrust(ctx context.Context, a *cli.App, o *cli.Store) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	return a.Answer("trusted", list, func(p *page.Page) {
		if len(list.Entries) == 0 {
			p.Line("Nothing is trusted in this store.")
			return
		}
		var rows [][]page.Cell
		for _, e := range list.Entries {
			by := string(e.Actor.Kind)
			if e.Actor.Ref != "" {
				by = e.Actor.Ref + " (" + by + ")"
			}
			rows = append(rows, []page.Cell{{Text: e.WorkflowID}, {Text: page.ShortDigest(e.WorkflowHash)},
				{Text: page.Plural(int(e.Commands), "command")},
				{Text: by}, {Text: page.ClockTime(e.AtMs, "2006-01-02 15:04")}})
		}
		p.Table([]page.Column{{Title: "WORKFLOW", Flex: true}, {Title: "HASH"}, {Title: "ALLOWS"}, {Title: "BY"},
			{Title: "SINCE"}}, rows)
	})
}

// revokeTrust takes trust back and prints what is still trusted; where there was
// none, nothing is to be done.
func revokeTrust(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	hash, err := canon.ParseDigest(ref)
	if err != nil && cli.IsFile(ref) {
		w, err := a.Workflow(ctx, ref)
		if err != nil {
			return err
		}
		hash = w.Compiled.Hash()
	}
	gone := 0
	for _, e := range list.Entries {
		if e.WorkflowHash != hash && e.WorkflowID != ref {
			continue
		}
		if _, err := o.Revoke(ctx, a.Caller(), e.WorkflowHash); err != nil {
			return err
		}
		list = list.Without(e.WorkflowHash)
		gone++
	}
	return a.Answer("trusted", list, func(p *page.Page) {
		if gone == 0 {
			p.Line("%s was not trusted.", page.Clean(ref))
		} else {
			p.Line("%s of %s: not trusted any more.", page.Plural(gone, "version"), page.Clean(ref))
		}
	})
}
