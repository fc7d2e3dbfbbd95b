package mcp

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine/agents"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/mcpserver"
)

// Startable implements mcpserver.UseCases: the workflows of list_workflows but those that their id does
// not start, as invalid ones. An input that may not be asked for is left out.
func (c agentCalls) Startable(ctx context.Context) ([]mcpserver.Startable, error) {
	all, err := c.a.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	var out []mcpserver.Startable
	for _, e := range all.Entries {
		found, err := all.Find(e.ID)
		if err != nil || found.Kind != e.Kind || found.Ref != e.Ref {
			continue
		}
		w := mcpserver.Startable{WorkflowID: e.ID, Name: e.Name, Description: e.Description}
		known := map[string]bool{}
		add := func(inputs []source.Input, fromStart bool) {
			for _, in := range inputs {
				if known[in.ContextKey] || !agents.Askable(in.Reason) {
					continue
				}
				known[in.ContextKey] = true
				w.Inputs = append(w.Inputs, mcpserver.Input{Key: in.ContextKey, Description: in.Description,
					Choices: in.Choices, FromStart: fromStart})
			}
		}
		add(e.Compiled.Inputs, true)
		for _, s := range e.Compiled.Steps {
			add(s.Inputs, false)
		}
		for _, l := range e.Compiled.Loops {
			for _, s := range l.Body {
				add(s.Inputs, false)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// LatestRuns implements mcpserver.UseCases.
func (c agentCalls) LatestRuns(ctx context.Context, n int) ([]mcpserver.ListedRun, error) {
	found, err := cli.Ask(ctx, c.a, func(ctx context.Context, o *cli.Store) (lists.RunPage, error) {
		return lists.SelectRuns(ctx, o.Lists, lists.Selection{Limit: n})
	})
	var out []mcpserver.ListedRun
	for _, r := range found.Runs {
		out = append(out, mcpserver.ListedRun{RunID: r.RunID.String(), Title: r.Title, Status: string(r.Status)})
	}
	return out, err
}

// ShowRun implements mcpserver.UseCases with the document of 'waybill runs show'. A prefix of an id and
// words such as @last are refused: an address names one run.
func (c agentCalls) ShowRun(ctx context.Context, run string) (mcpserver.Document, error) {
	if _, err := id.ParseRun(run); err != nil {
		return mcpserver.Document{}, fault.New(fault.ValidationError, "the address has no complete run id: %v", err).
			Suggest("Find the run with resume_session.")
	}
	doc, err := cli.Ask(ctx, c.a, func(ctx context.Context, o *cli.Store) (views.RunDetails, error) {
		return o.Run(ctx, run)
	})
	return documentOf("run", doc, err)
}
