package workflows

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
)

// listTrust prints the document "trusted": each trusted version of a workflow, the number of
// its commands, who trusted it and when, and in which repository or folder. It only reads.
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
		render.TrustList(p, list)
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
		// A version may be trusted in several places; all are removed at once.
		if e.WorkflowHash != hash && e.WorkflowID != ref || !list.Has(e.WorkflowHash) {
			continue
		}
		if _, err := o.Revoke(ctx, o.Caller(), e.WorkflowHash); err != nil {
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
