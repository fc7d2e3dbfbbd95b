package mcp

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/agents"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/infra/mcpserver"
)

// agentCalls implements mcpserver.UseCases. Each call finds the workflows and opens the store
// again, and nothing is cached between calls: a server that runs for days must notice added
// files, rotated keys and a replaced store. Its methods may be called concurrently.
type agentCalls struct{ a *cli.App }

// ListWorkflows implements mcpserver.UseCases. The list includes invalid workflows with their
// first problems.
func (c agentCalls) ListWorkflows(ctx context.Context, _ mcpserver.Caller, _ mcpserver.ListWorkflows) (mcpserver.Document,
	error) {
	all, err := c.a.Catalog(ctx)
	return documentOf("workflows", document.WorkflowsOf(all.Entries), err)
}

// InspectWorkflow implements mcpserver.UseCases. Long prompts are truncated; the answer for a
// pending step contains the complete prompt.
func (c agentCalls) InspectWorkflow(ctx context.Context, _ mcpserver.Caller,
	in mcpserver.InspectWorkflow) (mcpserver.Document, error) {
	e, err := c.find(ctx, in.WorkflowID)
	return documentOf("workflow", briefInspection(e), err)
}

// documentOf returns the document of a call, or its error.
func documentOf(kind string, data any, err error) (mcpserver.Document, error) {
	if err != nil {
		return mcpserver.Document{}, err
	}
	return mcpserver.Document{Kind: kind, Data: data}, nil
}

// find returns the workflow with an id. It accepts no path, which would let an agent run a file
// that is not in a workflow directory. The error is WORKFLOW_NOT_FOUND.
func (c agentCalls) find(ctx context.Context, id string) (catalog.Entry, error) {
	all, err := c.a.Catalog(ctx)
	if err != nil {
		return catalog.Entry{}, err
	}
	// A very long id must not be repeated in the message.
	if len(id) > limits.TitleBytesMax {
		return catalog.Entry{}, fault.New(fault.WorkflowNotFound, "no workflow has an id of %d bytes", len(id)).
			Suggest("List the ids with %s.", fault.Command{"workflows", "list"})
	}
	e, err := all.Find(id)
	if fault.Is(err, fault.WorkflowNotFound) && cli.IsFile(id) {
		return e, fault.New(fault.WorkflowNotFound, "%q is a path; the id of a workflow is required", id).
			Suggest("List the ids with %s. Files in .waybill/workflows are found by id.",
				fault.Command{"workflows", "list"})
	}
	return e, err
}

// StartWorkflow implements mcpserver.UseCases. The store's configuration limits the autonomy
// that an agent may set for a run (agentMaxAutonomy). The limit is checked before the start; a
// call that exceeds it writes nothing.
func (c agentCalls) StartWorkflow(ctx context.Context, by mcpserver.Caller, in mcpserver.StartWorkflow) (mcpserver.Document,
	error) {
	w, err := c.find(ctx, in.WorkflowID)
	if err != nil {
		return mcpserver.Document{}, err
	}
	_, root, err := c.a.Workspace()
	if err != nil {
		return mcpserver.Document{}, err
	}
	// The ids of the new session and run are derived from the seed.
	seed, err := c.a.Seed()
	if err != nil {
		return mcpserver.Document{}, err
	}
	return c.answer(ctx, func(o *cli.Store) (engine.Answer, error) {
		// The limit is read for each start, since a person may have changed it.
		if err := o.CheckAutonomy(ctx, in.Preferences.Autonomy); err != nil {
			return engine.Answer{}, err
		}
		answer, err := o.Start(ctx, o.CallerOf(by.Actor), seed,
			engine.Start{Workflow: w.Compiled, SourceKind: cli.RecordedSourceKind(w.Kind),
				SourceRef: w.Ref, Goal: in.Goal, Tags: in.Tags,
				Context: in.Context.Value(), Preferences: in.Preferences.Changes(), ByAgent: true,
				Observations: gitobserver.Observe(root)})
		answer.Warnings = append(answer.Warnings, warning.OfIDs(w)...)
		return answer, err
	})
}

// ContinueWorkflow implements mcpserver.UseCases. It is idempotent: the same tokens and output
// return the same answer.
func (c agentCalls) ContinueWorkflow(ctx context.Context, by mcpserver.Caller,
	in mcpserver.ContinueWorkflow) (mcpserver.Document, error) {
	req := requestOf(in.Output)
	req.Context = in.Context.Value()
	if in.AckToken != "" && by.Ask != nil {
		filled, unconfirmed, err := c.elicited(ctx, by, in.StateToken, req)
		if err != nil {
			return mcpserver.Document{}, err
		}
		req = filled
		if unconfirmed != nil {
			return c.document(*unconfirmed), nil
		}
	}
	return c.answer(ctx, func(o *cli.Store) (engine.Answer, error) {
		call := engine.Caller{}
		if in.AckToken != "" { // without it nothing is recorded
			call = o.CallerOf(by.Actor)
			call.Traceparent = by.Traceparent
		}
		answer, err := o.Continue(ctx, call, engine.Continue{StateToken: in.StateToken, AckToken: in.AckToken,
			Request: req})
		return cli.WithDrift(ctx, c.a, answer), err
	})
}

// CheckpointWorkflow implements mcpserver.UseCases. It is idempotent by its tokens.
func (c agentCalls) CheckpointWorkflow(ctx context.Context, by mcpserver.Caller,
	in mcpserver.CheckpointWorkflow) (mcpserver.Document, error) {
	return c.answer(ctx, func(o *cli.Store) (engine.Answer, error) {
		return o.Checkpoint(ctx, o.CallerOf(by.Actor),
			engine.CheckpointCall{StateToken: in.StateToken, CheckpointToken: in.CheckpointToken,
				Request: requestOf(in.Output)})
	})
}

// requestOf converts the output of an agent to a request of the engine. Artifacts of agents are
// JSON values; files can only be attached with the command line.
func requestOf(out mcpserver.Output) advance.Request {
	req := advance.Request{Notes: out.NotesMarkdown}
	for _, a := range out.Artifacts {
		req.Artifacts = append(req.Artifacts, advance.JSONArtifact(a.Value()))
	}
	return req
}

// answer opens the store for one call and returns the resulting document, "step" or "blocked".
// It has what an agent acts on. Its command lines, for a person to copy, get the flags that select
// the store. A blocked attempt is not an error.
func (c agentCalls) answer(ctx context.Context, call func(*cli.Store) (engine.Answer, error)) (mcpserver.Document,
	error) {
	answer, err := cli.Ask(ctx, c.a, func(_ context.Context, o *cli.Store) (engine.Answer, error) { return call(o) })
	if err != nil {
		return mcpserver.Document{}, err
	}
	return c.document(answer), nil
}

// document is the document of an answer.
func (c agentCalls) document(answer engine.Answer) mcpserver.Document {
	return mcpserver.Document{Kind: answer.Kind(), Data: agents.Answer(c.a.AnswerOfStore(answer))}
}
