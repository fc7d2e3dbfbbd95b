package mcpserver

import (
	"context"
	"reflect"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// tool is one row of the table that drives the server, its schemas, docs/mcp.md and
// the tests: nothing about a tool is said twice (locks section 8).
type tool struct {
	name  string
	title string
	// teaches is the description. Poor ones made 40% of agents' calls wrong (locks
	// 18.3), so these say what to send, what comes back, and what never to do.
	teaches string
	input   reflect.Type
	kinds   []string // of its documents, besides error
	// errors are the codes that an agent has to reckon with, besides those of a store
	// that cannot be read or written.
	errors   []fault.Code
	readOnly bool
	again    bool // the same call again changes nothing more
	call     func(ctx context.Context, u UseCases, by event.Actor, args canon.Value) (Document, error)
}

// instructions are what a client may show to its model before any tool.
const instructions = `Waybill carries work through workflows step by step and keeps every fact of it. list_workflows shows what there is, start_workflow explains how to go on, resume_session finds a run again.`

// tools is the closed set (design section 8). What is a person's to decide, such as
// approving, trusting, applying, repairing or deleting, is never among them.
var tools = []tool{
	{
		name: "list_workflows", title: "List workflows", kinds: []string{"workflows"}, readOnly: true, again: true,
		teaches: `List the workflows that can be started here, each with its workflowId and what it is for. Call this when the user wants a process followed; when unsure which one, ask.`,
		input:   reflect.TypeFor[ListWorkflows](),
		errors:  []fault.Code{fault.ValidationError},
		call: take(func(ctx context.Context, u UseCases, _ event.Actor, in ListWorkflows) (Document, error) {
			return u.ListWorkflows(ctx, in)
		}),
	},
	{
		name: "inspect_workflow", title: "Look into a workflow", kinds: []string{"workflow"}, readOnly: true,
		again:   true,
		teaches: `Show what a workflow is for, what must hold before, which inputs it needs and which steps it has, to choose the right one; a step of type loop repeats the body of the entry of loops with its id. Long prompts are cut. It starts nothing: do not work from this list.`,
		input:   reflect.TypeFor[InspectWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.WorkflowNotFound, fault.WorkflowAmbiguous,
			fault.WorkflowInvalid},
		call: take(func(ctx context.Context, u UseCases, _ event.Actor, in InspectWorkflow) (Document, error) {
			return u.InspectWorkflow(ctx, in)
		}),
	},
	{
		name: "start_workflow", title: "Start a workflow", kinds: []string{"step"},
		teaches: `Start a run of a workflow and get its first step. Then go round:
1. Do all that pending.prompt says, and nothing of later steps. Never predict steps: the next one depends on what you hand in.
2. Call continue_workflow with the stateToken and ackToken of that answer and notes on the step. next.params is this call, ready to send: put your words in place of each "…".
3. Repeat with each new answer until isComplete is true.
nextIntent says what is due: perform_pending_then_continue; await_user_confirmation: ask the user before you continue; rehydrate_only: the run takes no more steps; complete: tell the user the result.
Tokens are opaque: copy them whole, never edit or make them up. The tokens of one answer belong together. With several workflows in one chat, each answer names its workflow and session.runId beside its tokens: use the next.params of the run you mean, never tokens of another.`,
		input: reflect.TypeFor[StartWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.WorkflowNotFound, fault.WorkflowAmbiguous,
			fault.WorkflowInvalid},
		call: take(func(ctx context.Context, u UseCases, by event.Actor, in StartWorkflow) (Document, error) {
			return u.StartWorkflow(ctx, by, in)
		}),
	},
	{
		name: "continue_workflow", title: "Hand in a step", kinds: []string{"step", "blocked"}, again: true,
		teaches: `Hand in the pending step and get the next one. With stateToken and ackToken the step is handed in, once: the same call again gives the same answer, so repeat it if an answer was lost.
With stateToken alone (no output, no context) nothing is recorded: it shows the pending step again, with fresh tokens.
Kind "blocked" means the step was not accepted yet. What you sent is kept: mend what blockers name, then call again with the tokens of THAT answer. A step that is a command is performed by next.command, which a user must have trusted: ask them to run it, then find the run again with resume_session. In an error, suggestion says what to do and retry whether the same call may succeed later.`,
		input: reflect.TypeFor[ContinueWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.TokenInvalidFormat, fault.TokenUnsupportedVersion,
			fault.TokenBadSignature, fault.TokenScopeMismatch,
			fault.TokenUnknownNode, fault.TokenWorkflowHashMismatch, fault.TokenSessionLocked, fault.SessionUnhealthy,
			fault.RunClosed},
		call: take(func(ctx context.Context, u UseCases, by event.Actor, in ContinueWorkflow) (Document, error) {
			return u.ContinueWorkflow(ctx, by, in)
		}),
	},
	{
		name: "checkpoint_workflow", title: "Save work in a long step", kinds: []string{"step"}, again: true,
		teaches: `Record notes or results in the middle of a long step, so that a lost chat loses little. The step stays pending: go on with the tokens of the answer, and finish with continue_workflow.`,
		input:   reflect.TypeFor[CheckpointWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.TokenInvalidFormat, fault.TokenUnsupportedVersion,
			fault.TokenBadSignature, fault.TokenScopeMismatch,
			fault.TokenUnknownNode, fault.TokenWorkflowHashMismatch, fault.TokenSessionLocked, fault.SessionUnhealthy,
			fault.RunClosed},
		call: take(func(ctx context.Context, u UseCases, by event.Actor, in CheckpointWorkflow) (Document, error) {
			return u.CheckpointWorkflow(ctx, by, in)
		}),
	},
	{
		name: "resume_session", title: "Find a run to go on with", kinds: []string{"candidates"}, readOnly: true,
		again:   true,
		teaches: `Find a run to go on with in a new chat, or when its tokens are lost. Give runId or sessionId if known, else a query, else nothing for the runs that fit this workspace and the latest ones. Gives at most 5 candidates, best first; whyMatched says what each matched, so look there before you take one. Call continue_workflow with a candidate's stateToken alone to see its step. If more than one could be meant, ask the user.`,
		input:   reflect.TypeFor[ResumeSession](),
		errors:  []fault.Code{fault.ValidationError, fault.SessionNotFound, fault.RunNotFound},
		call: take(func(ctx context.Context, u UseCases, _ event.Actor, in ResumeSession) (Document, error) {
			return u.ResumeSession(ctx, in)
		}),
	},
}

// take reads a tool's arguments into their type, and then calls.
func take[In any](call func(context.Context, UseCases, event.Actor, In) (Document, error)) func(context.Context,
	UseCases, event.Actor, canon.Value) (Document, error) {
	return func(ctx context.Context, u UseCases, by event.Actor, args canon.Value) (Document, error) {
		var in In
		if err := canon.Decode(withoutNulls(args, true), &in); err != nil {
			return Document{}, err
		}
		return call(ctx, u, by, in)
	}
}
