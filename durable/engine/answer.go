package engine

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// Answer is the result of start, continue and related calls: the document
// "step", or "blocked" when an attempt was refused (docs/design.md#callers). It
// is a pure function of the pinned workflow and a prefix of the log
// (docs/design.md#answers).
type Answer struct {
	Session  SessionRef  `json:"session"`
	Workflow WorkflowRef `json:"workflow"`
	NodeID   id.Node     `json:"nodeId"`
	// Status is that of the run at its preferred tip, which may be another node
	// than NodeID.
	Status     runs.Status `json:"status"`
	IsComplete bool        `json:"isComplete"`
	// Paused is the pause of the run, nil without one.
	Paused *session.PausedRun `json:"paused,omitzero"`
	// Pending is null at the end of the run.
	Pending    *Pending   `json:"pending"`
	NextIntent NextIntent `json:"nextIntent"`
	// Preferences are those in force at the node.
	Preferences event.Preferences `json:"preferences"`
	// PreferenceSources says where each of them comes from.
	PreferenceSources runs.PreferenceSources `json:"preferenceSources,omitzero"`
	// StateToken names the node; AckToken permits one attempt at it. A closed
	// run has no AckToken.
	StateToken string `json:"stateToken,omitzero"`
	AckToken   string `json:"ackToken,omitzero"`
	// CheckpointToken records notes and artifacts at the pending step without
	// advancing the run.
	CheckpointToken string `json:"checkpointToken,omitzero"`
	Next            *Next  `json:"next"`
	// Recap is the recovery text of Rehydrate: Markdown, at most
	// limits.RecapBytesMax bytes. The answer to an attempt has none, since its
	// caller knows the steps (docs/design.md#recovery).
	Recap string `json:"recap,omitzero"`
	// Blockers are the unmet requirements of a refused attempt.
	Blockers []reason.Blocker `json:"blockers,omitzero"`
	// Result is that of the pending step's command, if one is recorded at the node
	// and the step was not accepted. It has the end of each output.
	Result *command.Brief `json:"result,omitzero"`
	// Checks are those of the last, refused attempt. Only Rehydrate has them: blockers name those of an attempt.
	Checks   []check.Brief     `json:"checks,omitzero"`
	Warnings []warning.Warning `json:"warnings"`
	// Redactions are the places of the request from which a secret was removed before it was recorded: of the
	// title, goal or tags of a start, or of the reason of a decision.
	Redactions []redact.Finding `json:"redactions,omitzero"`

	// AttemptID is the attempt in AckToken, CheckpointID the one in
	// CheckpointToken, for callers that use positions instead of tokens.
	AttemptID    id.Attempt `json:"-"`
	CheckpointID id.Attempt `json:"-"`
	// SourceKind and SourceRef are what the run records of the workflow's file.
	SourceKind event.SourceKind `json:"-"`
	SourceRef  string           `json:"-"`
	// Replayed reports that a start found its run on record, or an attempt its outcome, and recorded nothing.
	Replayed bool `json:"-"`

	// isCommand: the pending step has an action, which 'waybill run' performs, or waits, which it ends, or the HTTP
	// host performs it and has what it needs. missingInputs are context keys that the step requires and that have no
	// value that is accepted. artifactKinds are the kinds of the artifacts that it requires. stepsDone: see StepsDone.
	// approval is what is recorded of an approval. around is what the prompt contains besides the text of the
	// workflow, results what it says of earlier steps, checkpoints those at the node.
	isCommand     bool
	needed        []choices.Input
	missingInputs []string
	artifactKinds []string
	approval      approval
	stepsDone     int64
	around        prompt.Surroundings
	results       results
	checkpoints   []runs.Checkpoint
	// vars is the context at the node, without loop variables.
	vars canon.Value
	// compiled are the warnings of the compiler about the workflow.
	compiled []compile.Warning
	left     bool // see Left
}

// Kind is the kind of the document: "step" or "blocked".
func (a Answer) Kind() string {
	if len(a.Blockers) > 0 {
		return "blocked"
	}
	return "step"
}

// MissingInputs returns the context keys that the pending step requires and that have
// no value yet that is accepted.
func (a Answer) MissingInputs() []string { return a.missingInputs }

// Needed returns the declared inputs without a value that is accepted, with their choices.
func (a Answer) Needed() []choices.Input { return a.needed }

// Left reports that the run has continued from the node of the answer.
func (a Answer) Left() bool { return a.left }

// IsCommand reports that a performer does the pending step: it has an action, waits until a moment, or is
// one of the HTTP host.
func (a Answer) IsCommand() bool { return a.isCommand }

// StepsDone counts the steps completed before the pending one, as the list of
// runs does.
func (a Answer) StepsDone() int64 { return a.stepsDone }

// Context is the context at the node, without the variables of loops.
func (a Answer) Context() canon.Value { return a.vars }

// Surroundings returns what the prompt contains besides the text of the workflow, for
// a caller that renders the prompt in another form.
func (a Answer) Surroundings() prompt.Surroundings { return a.around }

// Checkpoints returns the checkpoints at the pending step, oldest first.
func (a Answer) Checkpoints() []runs.Checkpoint { return a.checkpoints }

// OutputsSubmitted reports that the pending step waits for a person's approval of the
// node's outputs, or has it. The next attempt must carry no notes and no
// artifacts, or it voids the approval
// (docs/design.md#requirements-on-the-caller).
func (a Answer) OutputsSubmitted() bool { return a.approval.submitted }

// Position is the node that the answer describes.
func (a Answer) Position() Position {
	return Position{Session: a.Session.SessionID, Run: a.Session.RunID, Node: a.NodeID}
}

// SessionRef names a run and the session that contains it.
type SessionRef struct {
	SessionID id.Session `json:"sessionId"`
	RunID     id.Run     `json:"runId"`
}

// WorkflowRef names the workflow that a run is pinned to.
type WorkflowRef struct {
	WorkflowID string `json:"workflowId"`
	Name       string `json:"name"`
	// An answer to an agent has no WorkflowHash: its state token names it.
	WorkflowHash canon.Digest `json:"workflowHash,omitzero"`
	// Source is plugin:NAME for a workflow of an attached folder, else the kind of its source.
	Source string `json:"source,omitzero"`
}

// Pending is the step that waits for an attempt, as its performer sees it.
type Pending struct {
	StepID string `json:"stepId"`
	// StepInstanceKey is the step id with the loop iterations around it.
	StepInstanceKey string `json:"stepInstanceKey"`
	Title           string `json:"title"`
	// Prompt is rendered Markdown, with the preamble at the first step.
	Prompt string `json:"prompt"`
	// RequireConfirmation is what the step waits for besides the work.
	RequireConfirmation Confirmation `json:"requireConfirmation"`
	// Approval is whose approvals the step waits for, or has; nil: it needs none.
	Approval *PendingApproval `json:"approval,omitzero"`
	// OutputContract is the contract of the step's artifact; nil: none.
	OutputContract *OutputContract `json:"outputContract,omitzero"`
	// Wait is the moment until which the step waits; nil: it does not.
	Wait *PendingWait `json:"wait,omitzero"`
	// Host is what the HTTP host performs; nil: it performs nothing of the step.
	Host *PendingHost `json:"host,omitzero"`
}

// Confirmation is what a pending step waits for besides the work: a GuidedConfirmation
// or a HumanApproval (docs/design.md#requirements-on-the-caller).
type Confirmation interface{ confirmation() }

// GuidedConfirmation reports whether the next attempt confirms the step, for which
// only a guided run waits.
type GuidedConfirmation bool

// HumanApproval says that the step can only be left with a person's recorded
// approval, in every mode.
type HumanApproval struct {
	Kind compile.ConfirmationKind `json:"kind"` // compile.ConfirmApproval
	// Approved reports that the outputs of the node are approved as they are.
	Approved bool `json:"approved,omitzero"`
}

func (GuidedConfirmation) confirmation() {}
func (HumanApproval) confirmation()      {}

// AwaitsGuided reports that the next attempt confirms the step.
func (p *Pending) AwaitsGuided() bool {
	return p != nil && p.RequireConfirmation == GuidedConfirmation(true)
}

// OutputContract describes the artifact that a step requests. One that is not
// required is checked only when it is sent.
type OutputContract struct {
	ContractRef string `json:"contractRef"`
	// ArtifactKind is the required value of the artifact's member "kind".
	ArtifactKind string      `json:"artifactKind"`
	Required     bool        `json:"required"`
	Example      canon.Value `json:"example,omitzero"` // satisfies the contract
}

// NextIntent is the closed set of what a caller should do next
// (docs/design.md#closed-sets).
type NextIntent string

// The next intents.
const (
	// The caller performs the step and sends an attempt.
	PerformThenContinue NextIntent = "perform_pending_then_continue"
	// A person must confirm or approve before the next attempt.
	AwaitConfirmation NextIntent = "await_user_confirmation"
	// The run takes no attempt now: it is closed, waits until a moment, or waits for the HTTP host.
	RehydrateOnly NextIntent = "rehydrate_only"
	// No step is pending.
	CompleteIntent NextIntent = "complete"
)

// Next is a complete call to copy: the same one as a command line and as a tool
// call (docs/design.md#tokens). The renderer adds the store flags of the
// current call to the command.
type Next struct {
	// Command is absent in an answer to an agent for which the tool call does the same.
	Command []string       `json:"command,omitzero"`
	Tool    string         `json:"tool"`
	Params  map[string]any `json:"params"`
}
