package mcpserver

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// UseCases are what the tools call, one method each. An error is told to the agent
// as data; what it should do next is the fault's suggestion.
type UseCases interface {
	ListWorkflows(ctx context.Context, in ListWorkflows) (Document, error)
	InspectWorkflow(ctx context.Context, in InspectWorkflow) (Document, error)
	StartWorkflow(ctx context.Context, by event.Actor, in StartWorkflow) (Document, error)
	ContinueWorkflow(ctx context.Context, by event.Actor, in ContinueWorkflow) (Document, error)
	CheckpointWorkflow(ctx context.Context, by event.Actor, in CheckpointWorkflow) (Document, error)
	ResumeSession(ctx context.Context, in ResumeSession) (Document, error)
}

// Document is an answer: what --json prints as {"v":1,"kind":…,"data":…}.
type Document struct {
	Kind string
	Data any
}

// ListWorkflows is what list_workflows takes: nothing.
type ListWorkflows struct{}

// InspectWorkflow is what inspect_workflow takes.
type InspectWorkflow struct {
	WorkflowID string `json:"workflowId" jsonschema:"An id from list_workflows."`
}

// StartWorkflow is what start_workflow takes.
type StartWorkflow struct {
	WorkflowID  string      `json:"workflowId" jsonschema:"An id from list_workflows."`
	Context     Object      `json:"context,omitzero" jsonschema:"External facts such as ticket ids, paths and parameters, and the inputs the workflow asks for. The run remembers them. At most 256 KiB: pass paths, not contents. Send numbers beyond 2^53 as strings."`
	Preferences Preferences `json:"preferences,omitzero" jsonschema:"Only what the user asked for."`
}

// ContinueWorkflow is what continue_workflow takes.
type ContinueWorkflow struct {
	StateToken string `json:"stateToken" jsonschema:"The stateToken (st.v1...) of the latest answer of this run."`
	AckToken   string `json:"ackToken,omitzero" jsonschema:"The ackToken (ack.v1...) of the SAME answer as stateToken. Leave it out only to look."`
	Context    Object `json:"context,omitzero" jsonschema:"Only facts that are new or changed in this step, and inputs it asks for; the run remembers the rest. null removes a key."`
	Output     Output `json:"output,omitzero" jsonschema:"What this step gave."`
}

// CheckpointWorkflow is what checkpoint_workflow takes.
type CheckpointWorkflow struct {
	StateToken      string `json:"stateToken" jsonschema:"The stateToken of the latest answer of this run."`
	CheckpointToken string `json:"checkpointToken" jsonschema:"The checkpointToken (chk.v1...) of the SAME answer."`
	Output          Output `json:"output" jsonschema:"What there is so far."`
}

// ResumeSession is what resume_session takes.
type ResumeSession struct {
	Query     string `json:"query,omitzero" jsonschema:"Words from the run's notes, or its workflow's name or id. All must fit."`
	SessionID string `json:"sessionId,omitzero" jsonschema:"An exact sessionId (sess_...)."`
	RunID     string `json:"runId,omitzero" jsonschema:"An exact runId (run_...)."`
}

// Preferences are how far a run goes on without the user.
type Preferences struct {
	Autonomy   event.Autonomy   `json:"autonomy,omitzero"`
	RiskPolicy event.RiskPolicy `json:"riskPolicy,omitzero"`
}

// Changes are the preferences as the engine takes them.
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

// Output is what an agent hands in for a step.
type Output struct {
	NotesMarkdown string   `json:"notesMarkdown,omitzero" jsonschema:"Markdown recap of THIS step only, written fresh, 10-30 lines: what you did and decided, what you produced (files, numbers), risks and open questions. Never repeat or append earlier notes: they are kept. Over 4096 bytes is cut off."`
	Artifacts     []Object `json:"artifacts,omitzero" jsonschema:"Structured results as JSON objects with a kind, where the step's OUTPUT REQUIREMENTS ask for them."`
}

// Object is a JSON object with any members.
type Object map[string]canon.Value

// Value is the object as one value, null where it was not given.
func (o Object) Value() canon.Value {
	if o == nil {
		return canon.Value{}
	}
	members := make([]canon.Member, 0, len(o))
	for name, v := range o {
		members = append(members, canon.Member{Name: name, Value: v})
	}
	return canon.OfMembers(members...)
}
