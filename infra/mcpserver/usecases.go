package mcpserver

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// UseCases are the operations of the tools, one method each, and what prompts and resources read. They
// are called from several goroutines. Errors of tools are returned to the agent as data, with the
// suggestion of the fault as the next action.
//
// by is who makes the call, for operations that record something.
type UseCases interface {
	// ListWorkflows returns a document of kind "workflows".
	ListWorkflows(ctx context.Context, by Caller, in ListWorkflows) (Document, error)
	// InspectWorkflow returns a document of kind "workflow", with the steps and without a run.
	InspectWorkflow(ctx context.Context, by Caller, in InspectWorkflow) (Document, error)
	// StartWorkflow creates a run and returns its first step, of kind "step".
	StartWorkflow(ctx context.Context, by Caller, in StartWorkflow) (Document, error)
	// ContinueWorkflow submits the pending step, or shows it again without an ackToken. It returns
	// kind "step", or "blocked" when the step was not accepted.
	ContinueWorkflow(ctx context.Context, by Caller, in ContinueWorkflow) (Document, error)
	// CheckpointWorkflow records notes in a pending step and returns kind "step".
	CheckpointWorkflow(ctx context.Context, by Caller, in CheckpointWorkflow) (Document, error)
	// ResumeSession returns at most five runs, of kind "candidates".
	ResumeSession(ctx context.Context, by Caller, in ResumeSession) (Document, error)

	// Startable returns the workflows that can be started here, in the order of list_workflows.
	Startable(ctx context.Context) ([]Startable, error)
	// LatestRuns returns at most n runs, the latest first.
	LatestRuns(ctx context.Context, n int) ([]ListedRun, error)
	// ShowRun returns a document of kind "run". id is a complete run id.
	ShowRun(ctx context.Context, id string) (Document, error)
}

// Startable is a workflow of which a prompt starts a run.
type Startable struct {
	WorkflowID  string
	Name        string
	Description string
	Inputs      []Input // of the workflow, then of its steps, each key once
}

// Input is a declared input of a workflow: a context key that a run needs a value for.
type Input struct {
	Key         string
	Description string
	Choices     []string // empty: any text
	// FromStart reports that each step of the run needs it, so that the first one cannot be left without.
	FromStart bool
}

// ListedRun is a run in the list of resources.
type ListedRun struct {
	RunID  string
	Title  string
	Status string
}

// Document is an answer, as --json prints it: {"v":1,"kind":…,"data":…}.
type Document struct {
	Kind string
	Data any
}

// ListWorkflows are the arguments of list_workflows: none.
type ListWorkflows struct{}

// InspectWorkflow are the arguments of inspect_workflow.
type InspectWorkflow struct {
	WorkflowID string `json:"workflowId" jsonschema:"An id from list_workflows."`
}

// StartWorkflow are the arguments of start_workflow.
//
// The descriptions in the tags are sent to agents and count in the size of the tools.
type StartWorkflow struct {
	WorkflowID  string      `json:"workflowId" jsonschema:"An id from list_workflows."`
	Goal        string      `json:"goal,omitzero" jsonschema:"What the user wants, in their words. It names the run. At most 1024 bytes."`
	Context     Object      `json:"context,omitzero" jsonschema:"External facts such as ticket ids and paths, and the inputs the workflow requires. The run keeps them. At most 256 KiB: pass paths, not contents. Send numbers beyond 2^53 as strings."`
	Tags        []string    `json:"tags,omitzero" jsonschema:"Run tags."`
	Preferences Preferences `json:"preferences,omitzero" jsonschema:"Only what the user asked for."`
}

// ContinueWorkflow are the arguments of continue_workflow.
type ContinueWorkflow struct {
	StateToken string `json:"stateToken" jsonschema:"The stateToken (st.v1...) of the latest answer of this run."`
	AckToken   string `json:"ackToken,omitzero" jsonschema:"The ackToken (ack.v1...) of the SAME answer as stateToken. Omit it only to read."`
	Context    Object `json:"context,omitzero" jsonschema:"Only facts that are new or changed in this step, and inputs it requires; the run keeps the rest. null removes a key."`
	Output     Output `json:"output,omitzero" jsonschema:"The results of this step."`
}

// CheckpointWorkflow are the arguments of checkpoint_workflow.
type CheckpointWorkflow struct {
	StateToken      string `json:"stateToken" jsonschema:"The stateToken of the latest answer of this run."`
	CheckpointToken string `json:"checkpointToken" jsonschema:"The checkpointToken (chk.v1...) of the SAME answer."`
	Output          Output `json:"output" jsonschema:"The results so far."`
}

// ResumeSession are the arguments of resume_session.
type ResumeSession struct {
	Query     string `json:"query,omitzero" jsonschema:"Words of its notes, title, goal or workflow: all must match. Or branch or commit."`
	SessionID string `json:"sessionId,omitzero" jsonschema:"An exact sessionId (sess_...)."`
	RunID     string `json:"runId,omitzero" jsonschema:"An exact runId (run_...)."`
}

// Preferences define which steps of a run require a confirmation of the user.
type Preferences struct {
	Autonomy   event.Autonomy   `json:"autonomy,omitzero"`
	RiskPolicy event.RiskPolicy `json:"riskPolicy,omitzero"`
}

// Changes are the given preferences in the form that the engine accepts, autonomy first.
func (p Preferences) Changes() []event.PreferenceChange {
	var out []event.PreferenceChange
	if p.Autonomy != "" {
		out = append(out, event.PreferenceChange{Key: "autonomy", Value: string(p.Autonomy)})
	}
	if p.RiskPolicy != "" {
		out = append(out, event.PreferenceChange{Key: "riskPolicy", Value: string(p.RiskPolicy)})
	}
	return out
}

// Output is what an agent submits for a step.
type Output struct {
	NotesMarkdown string   `json:"notesMarkdown,omitzero" jsonschema:"Markdown recap of THIS step only, written fresh, 10-30 lines: what you did and decided, what you produced (files, numbers), risks and open questions. Never repeat earlier notes: they are kept. Up to 1 MiB; prompts show 4096 bytes."`
	Artifacts     []Object `json:"artifacts,omitzero" jsonschema:"Structured results as JSON objects with a kind, where the step's OUTPUT REQUIREMENTS list them."`
}

// Object is a JSON object with any members.
type Object map[string]canon.Value

// Value is the object as one value, null when it was not given.
//
// The order of the members does not matter: canonical JSON sorts them.
func (o Object) Value() canon.Value {
	if o == nil {
		return canon.Value{}
	}
	var members []canon.Member
	for name, v := range o {
		members = append(members, canon.Member{Name: name, Value: v})
	}
	return canon.OfMembers(members...)
}
