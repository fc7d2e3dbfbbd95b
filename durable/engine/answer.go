package engine

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections"
)

// Answer is what start and continue return: the document "step", or "blocked"
// where an attempt was refused (design section 8). It is a pure function of the
// pinned workflow and a prefix of the log (R15).
type Answer struct {
	Session     SessionRef         `json:"session"`
	Workflow    WorkflowRef        `json:"workflow"`
	NodeID      id.Node            `json:"nodeId"`
	Status      projections.Status `json:"status"`
	IsComplete  bool               `json:"isComplete"`
	Pending     *Pending           `json:"pending"`
	NextIntent  NextIntent         `json:"nextIntent"`
	Preferences event.Preferences  `json:"preferences"`
	StateToken  string             `json:"stateToken,omitzero"`
	AckToken    string             `json:"ackToken,omitzero"`
	// CheckpointToken keeps notes and artifacts at the pending step without leaving it.
	CheckpointToken string `json:"checkpointToken,omitzero"`
	Next            *Next  `json:"next"`
	// Recap is the recovery text of an answer that only looked: Markdown, at most
	// limits.RecapBytesMax bytes. An advance brings none: who made it knows (locks 18.1).
	Recap    string           `json:"recap,omitzero"`
	Blockers []reason.Blocker `json:"blockers,omitzero"`
	Warnings []Warning        `json:"warnings"`

	// AttemptID is what AckToken stands for, CheckpointID what CheckpointToken does,
	// for callers that need no token.
	AttemptID    id.Attempt `json:"-"`
	CheckpointID id.Attempt `json:"-"`

	// performed: the pending step is a command, which 'waybill run' carries out.
	// asked are the inputs that it still wants, kinds those of the artifacts. handedIn: what a person has to approve,
	// or has approved, is there, and sending more would void the approval.
	isCommand        bool
	missingInputs    []string
	artifactKinds    []string
	outputsSubmitted bool
}

// Kind is the document's kind.
func (a Answer) Kind() string {
	if len(a.Blockers) > 0 {
		return "blocked"
	}
	return "step"
}

// Asked lists the context keys of inputs that the pending step still wants.
func (a Answer) Asked() []string { return a.missingInputs }

// HandedIn reports that the pending step waits for a person's approval of what the
// node holds, or has it: the next attempt must bring no notes and no artifacts, or
// it voids the approval (R20).
func (a Answer) HandedIn() bool { return a.outputsSubmitted }

// Position is the place the answer speaks of.
func (a Answer) Position() Position {
	return Position{a.Session.SessionID, a.Session.RunID, a.NodeID}
}

// SessionRef names where a run lives.
type SessionRef struct {
	SessionID id.Session `json:"sessionId"`
	RunID     id.Run     `json:"runId"`
}

// WorkflowRef names what a run is pinned to.
type WorkflowRef struct {
	WorkflowID   string       `json:"workflowId"`
	Name         string       `json:"name"`
	WorkflowHash canon.Digest `json:"workflowHash"`
}

// Pending is the step that waits to be acknowledged, as its performer sees it.
type Pending struct {
	StepID              string `json:"stepId"`
	StepInstanceKey     string `json:"stepInstanceKey"`
	Title               string `json:"title"`
	Prompt              string `json:"prompt"`
	RequireConfirmation bool   `json:"requireConfirmation"`
	// OutputContract is what an artifact of the step has to satisfy.
	OutputContract *OutputContract `json:"outputContract,omitzero"`
}

// OutputContract tells a performer which artifact a step asks for. One that is not
// required is checked where it is sent.
type OutputContract struct {
	ContractRef  string      `json:"contractRef"`
	ArtifactKind string      `json:"artifactKind"` // the artifact's "kind" member
	Required     bool        `json:"required"`
	Example      canon.Value `json:"example,omitzero"` // satisfies the contract
}

// NextIntent is the closed set of what a caller should do next (locks 16.3).
type NextIntent string

// The next intents.
const (
	PerformThenContinue NextIntent = "perform_pending_then_continue"
	AwaitConfirmation   NextIntent = "await_user_confirmation"
	RehydrateOnly       NextIntent = "rehydrate_only"
	CompleteIntent      NextIntent = "complete"
)

// Next is a ready call to copy (R25): the same one as a command line and as a
// tool call. Whoever renders it adds the call's own store flags to the command.
type Next struct {
	Command []string       `json:"command"`
	Tool    string         `json:"tool"`
	Params  map[string]any `json:"params"`
}

// Warning tells a caller something that refuses nothing.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"`
}

// WarningCode is the closed set of warnings in answers.
type WarningCode string

// The warning codes.
const (
	ReplayDiffers       WarningCode = "REPLAY_DIFFERS"
	NotesTruncated      WarningCode = "NOTES_TRUNCATED"
	VariableAbsent      WarningCode = "VARIABLE_ABSENT"
	CompiledOtherwise   WarningCode = "COMPILED_WARNING"
	ObservationsDropped WarningCode = "OBSERVATIONS_DROPPED"
	// RecommendationExceeded: the preferences go beyond what the workflow recommends.
	RecommendationExceeded WarningCode = "RECOMMENDATION_EXCEEDED"
)
