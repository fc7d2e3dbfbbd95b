package main

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
)

// listTrust prints the document "trusted": everything that is trusted in the store.
func (a *app) listTrust(ctx context.Context, o *opened) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	return a.answer("trusted", list, func(p *page) {
		if len(list.Entries) == 0 {
			p.line("Nothing is trusted in this store.")
			return
		}
		var rows [][]cell
		for _, e := range list.Entries {
			by := string(e.Actor.Kind)
			if e.Actor.Ref != "" {
				by = e.Actor.Ref + " (" + by + ")"
			}
			rows = append(rows, []cell{{text: e.WorkflowID}, {text: short(e.WorkflowHash)},
				{text: plural(int(e.Commands), "command")},
				{text: by}, {text: clockTime(e.AtMs, "2006-01-02 15:04")}})
		}
		p.table([]column{{title: "WORKFLOW", flex: true}, {title: "HASH"}, {title: "ALLOWS"}, {title: "BY"},
			{title: "SINCE"}}, rows)
	})
}

// revokeTrust takes trust back and prints what is still trusted; where there was
// none, nothing is to be done.
func (a *app) revokeTrust(ctx context.Context, o *opened, ref string) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	hash, err := canon.ParseDigest(ref)
	if err != nil && isFile(ref) {
		w, err := a.workflow(ctx, ref)
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
		if _, err := o.Revoke(ctx, a.caller(), e.WorkflowHash); err != nil {
			return err
		}
		list = list.Without(e.WorkflowHash)
		gone++
	}
	return a.answer("trusted", list, func(p *page) {
		if gone == 0 {
			p.line("%s was not trusted.", clean(ref))
		} else {
			p.line("%s of %s: not trusted any more.", plural(gone, "version"), clean(ref))
		}
	})
}

// short is a digest as people compare it.
func short(d canon.Digest) string {
	s := d.String()
	return s[:min(len(s), len("sha256:")+12)]
}
