package workflows

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

// listTrust prints the document "trusted": each trusted version of a workflow, the number of
// its commands, who trusted it and when, and in which repository or folder. It only reads.
func listTrust(ctx context.Context, a *cli.App, o *cli.Store) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	doc := trustedOf(ctx, a, list)
	return a.Answer("trusted", doc, func(p *page.Page) {
		if len(doc.Entries) == 0 {
			p.Line("Nothing is trusted in this store.")
			return
		}
		render.TrustList(p, doc)
	})
}

// trustedOf returns the document of a list, with the sources of the versions that are found. A list
// of workflows that cannot be read leaves them out.
func trustedOf(ctx context.Context, a *cli.App, list trust.List) document.Trusted {
	doc := document.Trusted{Entries: []document.TrustedRow{}}
	var c catalog.Catalog
	if len(list.Entries) > 0 {
		c, _ = a.Catalog(ctx)
	}
	for _, e := range list.Entries {
		doc.Entries = append(doc.Entries, document.TrustedRow{Entry: e, Source: c.SourceOf(e.WorkflowHash)})
	}
	return doc
}

// revokeTrust removes trust and prints the remaining entries. ref is a file (its present
// version), an id (all versions), or a hash. If nothing was trusted, it changes nothing and is
// not an error.
//
// Each version is removed by a separate call, so that the audit log contains one entry per
// version.
func revokeTrust(ctx context.Context, a *cli.App, o *cli.Store, ref string, sign *cli.Signing) error {
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
		if _, err := o.Revoke(ctx, sign.Caller(o), e.WorkflowHash); err != nil {
			return err
		}
		list = list.Without(e.WorkflowHash)
		removed++
	}
	if removed == 0 && hash.IsZero() { // an id that no workflow has is a typing error
		if _, err := a.WorkflowOrProblems(ctx, ref); fault.Is(err, fault.WorkflowNotFound) {
			return err
		}
	}
	return a.Answer("trusted", trustedOf(ctx, a, list), func(p *page.Page) {
		if removed == 0 {
			p.Line("%s was not trusted.", page.OneLine(ref))
		} else {
			p.Line("%s of %s: no longer trusted.", page.Plural(removed, "version"), page.OneLine(ref))
		}
	})
}
