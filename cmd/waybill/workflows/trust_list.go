package workflows

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
)

// listTrust prints the document "trusted": each trusted version of a workflow, the number of
// its commands, who trusted it and when. It only reads.
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
			// The kind is shown with the name, since callers choose their names.
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

// revokeTrust removes trust and prints the remaining entries. ref is a file (its present
// version), an id (all versions), or a hash. If nothing was trusted, it changes nothing and is
// not an error.
//
// Each version is removed by a separate call, so that the audit log contains one entry per
// version.
func revokeTrust(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	// For an id, hash stays zero and matches no entry.
	hash, err := canon.ParseDigest(ref)
	if err != nil && cli.IsFile(ref) {
		w, err := a.Workflow(ctx, ref)
		if err != nil {
			return err
		}
		hash = w.Compiled.Hash()
	}
	// An id selects all of its versions.
	removed := 0
	for _, e := range list.Entries {
		if e.WorkflowHash != hash && e.WorkflowID != ref {
			continue
		}
		if _, err := o.Revoke(ctx, a.Caller(), e.WorkflowHash); err != nil {
			return err
		}
		list = list.Without(e.WorkflowHash)
		removed++
	}
	return a.Answer("trusted", list, func(p *page.Page) {
		if removed == 0 {
			p.Line("%s was not trusted.", page.OneLine(ref))
		} else {
			p.Line("%s of %s: no longer trusted.", page.Plural(removed, "version"), page.OneLine(ref))
		}
	})
}
