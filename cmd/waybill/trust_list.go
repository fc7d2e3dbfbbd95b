package main

import (
	"context"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/trust"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// listTrust prints the document "trusted": everything that is trusted in the store.
func (a *app) listTrust(ctx context.Context, o *opened) error {
	list, err := o.Trusted(ctx)
	if err != nil {
		return err
	}
	if list.Entries == nil {
		list.Entries = []trust.Entry{}
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
			rows = append(rows, []cell{{text: e.WorkflowID}, {text: short(e.WorkflowHash)}, {text: plural(int(e.Commands), "command")},
				{text: by}, {text: clockTime(e.AtMs, "2006-01-02 15:04")}})
		}
		p.table([]column{{title: "WORKFLOW", flex: true}, {title: "HASH"}, {title: "ALLOWS"}, {title: "BY"}, {title: "SINCE"}}, rows)
	})
}

// revokeTrust takes trust back; where there was none, nothing is to be done.
func (a *app) revokeTrust(ctx context.Context, o *opened, w compile.Compiled) error {
	was, err := o.Revoke(ctx, w.Hash())
	if err != nil {
		return err
	}
	doc := trustDocument{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash()}
	return a.answer("trust", doc, func(p *page) {
		if was {
			p.line("%s is not trusted any more.", clean(w.WorkflowID))
		} else {
			p.line("%s was not trusted.", clean(w.WorkflowID))
		}
	})
}

// short is a digest as people compare it.
func short(d canon.Digest) string {
	s := d.String()
	return s[:min(len(s), len("sha256:")+12)]
}
