package mcp

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/infra/mcpserver"
)

// agentCalls are the use cases as agents call them. Every call finds the
// workflows and opens the store again: a server that runs for days sees files
// that were added, keys that were rotated and a store that was replaced, and
// holds nothing between calls.
type agentCalls struct{ a *cli.App }

// ListWorkflows implements mcpserver.UseCases. The list has the workflows that
// do not validate as well, with their first problems.
func (c agentCalls) ListWorkflows(ctx context.Context, _ mcpserver.ListWorkflows) (mcpserver.Document, error) {
	all, err := c.a.Catalog(ctx)
	if err != nil {
		return c.fault(err)
	}
	return mcpserver.Document{Kind: "workflows", Data: document.WorkflowsOf(all.Entries)}, nil
}

// InspectWorkflow implements mcpserver.UseCases. Long prompts are cut; the step
// has them whole once it is pending.
func (c agentCalls) InspectWorkflow(ctx context.Context, in mcpserver.InspectWorkflow) (mcpserver.Document, error) {
	e, err := c.find(ctx, in.WorkflowID)
	if err != nil {
		return c.fault(err)
	}
	return mcpserver.Document{Kind: "workflow", Data: briefInspection(e)}, nil
}

// find takes an id only. A path would let an agent start a file that no person
// placed among the workflows.
func (c agentCalls) find(ctx context.Context, id string) (catalog.Entry, error) {
	all, err := c.a.Catalog(ctx)
	if err != nil {
		return catalog.Entry{}, err
	}
	// A message must not repeat megabytes of a malformed id.
	if len(id) > limits.TitleBytesMax {
		return catalog.Entry{}, fault.New(fault.WorkflowNotFound, "no workflow has an id of %d bytes", len(id)).
			Suggest("See the ids with 'waybill workflows list'.")
	}
	e, err := all.Find(id)
	if fault.Is(err, fault.WorkflowNotFound) && cli.IsFile(id) {
		return e, fault.New(fault.WorkflowNotFound, "%q is a path; a workflow is named by its id", id).
			Suggest("See the ids with 'waybill workflows list'. A file must lie in .waybill/workflows to be found.")
	}
	return e, err
}

// StartWorkflow implements mcpserver.UseCases. The store's configuration limits
// how much autonomy an agent may give to a run; that is checked before the run
// is started, and nothing is written where it is exceeded.
func (c agentCalls) StartWorkflow(ctx context.Context, by event.Actor, in mcpserver.StartWorkflow) (mcpserver.Document,
	error) {
	w, err := c.find(ctx, in.WorkflowID)
	if err != nil {
		return c.fault(err)
	}
	_, root, err := c.a.Workspace()
	if err != nil {
		return c.fault(err)
	}
	seed, err := c.a.Seed()
	if err != nil {
		return c.fault(err)
	}
	return c.answer(ctx, func(o *cli.Store) (engine.Answer, error) {
		// The limit is read for each start: a person may have lowered it.
		config, err := o.Config(ctx)
		if err == nil {
			err = config.AgentMay(in.Preferences.Autonomy)
		}
		if err != nil {
			return engine.Answer{}, err
		}
		return o.Start(ctx, c.caller(by), seed, engine.Start{Workflow: w.Compiled, SourceKind: cli.Recorded(w.Kind),
			SourceRef: w.Ref,
			Context:   in.Context.Value(), Preferences: in.Preferences.Changes(),
			Observations: gitobserver.Observe(root)})
	})
}

// ContinueWorkflow implements mcpserver.UseCases. With the same tokens and
// output, the same answer is given again.
func (c agentCalls) ContinueWorkflow(ctx context.Context, by event.Actor,
	in mcpserver.ContinueWorkflow) (mcpserver.Document, error) {
	req := requestOf(in.Output)
	req.Context = in.Context.Value()
	return c.answer(ctx, func(o *cli.Store) (engine.Answer, error) {
		return o.Continue(ctx, c.caller(by), engine.Continue{StateToken: in.StateToken, AckToken: in.AckToken,
			Request: req})
	})
}

// CheckpointWorkflow implements mcpserver.UseCases.
func (c agentCalls) CheckpointWorkflow(ctx context.Context, by event.Actor,
	in mcpserver.CheckpointWorkflow) (mcpserver.Document, error) {
	return c.answer(ctx, func(o *cli.Store) (engine.Answer, error) {
		return o.Checkpoint(ctx, c.caller(by),
			engine.CheckpointCall{StateToken: in.StateToken, CheckpointToken: in.CheckpointToken,
				Request: requestOf(in.Output)})
	})
}

// requestOf is what an agent hands in, as the engine takes it. Artifacts of
// agents are JSON values; files can only be attached with the command.
func requestOf(out mcpserver.Output) advance.Request {
	req := advance.Request{Notes: out.NotesMarkdown}
	for _, a := range out.Artifacts {
		req.Artifacts = append(req.Artifacts, advance.JSONArtifact(a.Value()))
	}
	return req
}

// caller is the agent as the engine records it, with the time of the call.
func (c agentCalls) caller(by event.Actor) engine.Caller {
	return engine.Caller{Actor: by, AtMs: c.a.NowMs()}
}

// answer opens the store for one call and gives the step document that comes
// back, with the next command line for a person to copy. A blocked attempt is
// such a document too, and no error.
func (c agentCalls) answer(ctx context.Context, call func(*cli.Store) (engine.Answer, error)) (mcpserver.Document,
	error) {
	o, err := c.a.Open(ctx)
	if err != nil {
		return c.fault(err)
	}
	defer o.Close()
	answer, err := call(o)
	if err != nil {
		return c.fault(err)
	}
	if answer.Next != nil {
		answer.Next.Command = c.a.WithStoreFlags(answer.Next.Command)
	}
	return mcpserver.Document{Kind: answer.Kind(), Data: answer}, nil
}

// fault returns an error with the suggestions for this server's store.
func (c agentCalls) fault(err error) (mcpserver.Document, error) {
	return mcpserver.Document{}, c.a.SuggestForStore(fault.Of(err))
}
