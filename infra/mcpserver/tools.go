package mcpserver

import (
	"context"
	"reflect"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// tool is one row of the table from which the server, its schemas, docs/mcp.md and the tests are
// made.
//
// The name is part of the interface: it is never renamed or reused.
type tool struct {
	name  string
	title string
	// description is read by agents. Imprecise descriptions made 40% of agents' calls wrong, so
	// these state what to send, what is returned, and what never to do.
	description string
	input       reflect.Type
	kinds       []string // kinds of its documents, besides error
	// errors are the codes that an agent must expect, besides those of a store that cannot be read
	// or written.
	errors     []fault.Code
	readOnly   bool
	idempotent bool // repeating the call has no further effect
	call       func(ctx context.Context, u UseCases, by Caller, args canon.Value) (Document, error)
}

// instructions may be shown to the model by a client before any tool.
const instructions = `Waybill performs workflows step by step and records every result. list_workflows lists them, start_workflow explains how to continue, resume_session finds an earlier run.`

// tools is the closed set of tools (docs/design.md#callers). Decisions of the user, such as
// approving, trusting, applying, repairing or deleting, must never be among them. Their total size
// is bounded by a test: descriptions are part of every chat.
var tools = []tool{
	{
		name: "list_workflows", title: "List workflows", kinds: []string{"workflows"}, readOnly: true, idempotent: true,
		description: `List the workflows that can be started here, each with its workflowId and purpose. Call this when the user wants to follow a process; if unsure which one, ask.`,
		input:       reflect.TypeFor[ListWorkflows](),
		errors:      []fault.Code{fault.ValidationError},
		call:        decodeThen(UseCases.ListWorkflows),
	},
	{
		name: "inspect_workflow", title: "Inspect a workflow", kinds: []string{"workflow"}, readOnly: true,
		idempotent:  true,
		description: `Show the purpose of a workflow, its preconditions, inputs and steps, to choose the right one; a step of type loop repeats the body of the entry in loops with its id. Long prompts are cut. It starts nothing: do not work from this list.`,
		input:       reflect.TypeFor[InspectWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.WorkflowNotFound, fault.WorkflowAmbiguous,
			fault.WorkflowInvalid},
		call: decodeThen(UseCases.InspectWorkflow),
	},
	{
		name: "start_workflow", title: "Start a workflow", kinds: []string{"step"},
		description: `Start a run of a workflow and get its first step. Then loop:
1. Do all that pending.prompt says, and nothing of later steps. Never predict steps: the next one depends on what you submit.
2. Call continue_workflow with the stateToken and ackToken of that answer and notes on the step. next.params is this call, ready to send: replace each "…" by your words.
3. Repeat with each new answer until isComplete is true.
nextIntent is the next action: perform_pending_then_continue; await_user_confirmation: ask the user before you continue; rehydrate_only: ended, or waits (pending.wait); complete: report the result to the user.
Tokens are opaque: copy them whole, never edit or make them up. The tokens of one answer belong together. Each answer names its workflow and session.runId: with several runs use the next.params of the one you mean.`,
		input: reflect.TypeFor[StartWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.WorkflowNotFound, fault.WorkflowAmbiguous,
			fault.WorkflowInvalid},
		call: decodeThen(UseCases.StartWorkflow),
	},
	{
		name: "continue_workflow", title: "Submit a step", kinds: []string{"step", "blocked"}, idempotent: true,
		description: `Submit the pending step and get the next one. With stateToken and ackToken the step is submitted once: repeat the same call if its answer was lost.
With stateToken alone (no output, no context) nothing is recorded: it shows the pending step again, with fresh tokens.
Kind "blocked": not accepted yet. What you sent is kept: fix what blockers name, then call again with the tokens of THAT answer. Checks run at each submission: correct the work, never tests or pinned files; at check_changed or WORKFLOW_UNTRUSTED show the user the named command. A command step is performed by next.command, which a user must have trusted: ask them to run it, then use resume_session. In an error, suggestion says what to do, and retry whether the call may succeed later.`,
		input: reflect.TypeFor[ContinueWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.TokenInvalidFormat, fault.TokenUnsupportedVersion,
			fault.TokenBadSignature, fault.TokenScopeMismatch,
			fault.TokenUnknownNode, fault.TokenWorkflowHashMismatch, fault.TokenSessionLocked, fault.SessionUnhealthy,
			fault.RunClosed, fault.RunPaused, fault.RunWaiting},
		call: decodeThen(UseCases.ContinueWorkflow),
	},
	{
		name: "checkpoint_workflow", title: "Save work in a long step", kinds: []string{"step"}, idempotent: true,
		description: `Record notes or results in the middle of a long step, so that a lost chat loses little. The step stays pending: continue with the tokens of the answer, and finish with continue_workflow.`,
		input:       reflect.TypeFor[CheckpointWorkflow](),
		errors: []fault.Code{fault.ValidationError, fault.TokenInvalidFormat, fault.TokenUnsupportedVersion,
			fault.TokenBadSignature, fault.TokenScopeMismatch,
			fault.TokenUnknownNode, fault.TokenWorkflowHashMismatch, fault.TokenSessionLocked, fault.SessionUnhealthy,
			fault.RunClosed, fault.RunPaused},
		call: decodeThen(UseCases.CheckpointWorkflow),
	},
	{
		name: "resume_session", title: "Find a run to continue", kinds: []string{"candidates"}, readOnly: true,
		idempotent:  true,
		description: `Find a run to continue in a new chat, or when its tokens are lost. Give runId or sessionId if known, else a query, else nothing for the runs that match this workspace and the latest ones. Returns at most 5 candidates, best first; whyMatched lists what each matched, so read it before you choose one. Call continue_workflow with a candidate's stateToken alone to see its step. If several could be meant, ask the user.`,
		input:       reflect.TypeFor[ResumeSession](),
		errors:      []fault.Code{fault.ValidationError, fault.SessionNotFound, fault.RunNotFound},
		call:        decodeThen(UseCases.ResumeSession),
	},
}

// decodeThen adapts a use case to raw arguments: it decodes them into In, strictly, and then calls.
// Decoding errors are returned unchanged; perform maps them.
func decodeThen[In any](call func(UseCases, context.Context, Caller, In) (Document, error)) func(context.Context,
	UseCases, Caller, canon.Value) (Document, error) {
	return func(ctx context.Context, u UseCases, by Caller, args canon.Value) (Document, error) {
		var in In
		if err := canon.Decode(withoutNulls(args, true), &in); err != nil {
			return Document{}, err
		}
		return call(u, ctx, by, in)
	}
}
