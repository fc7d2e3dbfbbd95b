package workflows

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
)

// listTrust prints the document "trusted": every version that is trusted, how
// many commands it may run, who agreed and when. The store is not changed, and
// none is made.
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
			// A name is shown with the kind, since names can be chosen
			// freely.
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

// revokeTrust removes trust and prints what remains. ref is a file, whose
// present version is meant, an id, which means every version, or a hash. Where
// nothing was trusted, nothing is changed and that is no error.
//
// Each version is removed and recorded by itself, so that the audit log names
// all of them.
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
	// An id means all of its versions.
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
