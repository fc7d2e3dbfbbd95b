// Package advance decides the outcome of operations on one run: it plans the events and
// objects of one append, or refuses and records nothing (docs/design.md#answers,
// docs/design.md#blocked-attempts, docs/design.md#event-order). A decision is a pure function
// of the pinned workflow, the recorded facts about one node, and the caller's request.
//
// It reads no log and appends nothing: projections compute Facts, and package engine appends
// plans. Blocker messages, gap and trace summaries are stored and compared byte for byte on
// re-execution, so that their sentences must not change. Start with Begin and Decide;
// Checkpoint, Approve, Cancel and Branch are the other operations.
package advance

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
)

// Facts are the recorded facts about the attempted node, the only input of a decision besides
// workflow and request.
type Facts struct {
	// Store is set where a signature is made or judged.
	Store   id.Store
	Session id.Session
	Run     id.Run
	Node    id.Node
	// Next is the index at which the plan's first event will be appended.
	Next int64
	// PendingMs is the time at which the step became pending: that of the node's node_created.
	PendingMs   int64
	State       snapshot.State
	SnapshotRef canon.Digest // digest of State's snapshot file
	Preferences event.Preferences
	Context     canon.Value // effective at the node
	// Given are the context keys that refused attempts at the node set since the last accepted one.
	Given    []string
	HasChild bool // an acked_step edge starts at the node
	// Executions is the number of steps that the run has taken up, StepsMax how many it may; 0: any number.
	Executions int64
	StepsMax   int64
	OpenGaps   []OpenGap
	Outputs    []Output // the node's current ones, oldest first
	Notes      string   // the node's current ones, whole (docs/design.md#whole-notes)
	// Capabilities maps a capability to the status of its latest strong observation on the
	// path to the node.
	Capabilities map[string]string
	// Choices are the lists of the inputs of the pending step with choicesFrom, by context key; each
	// has entries, or the reason why there are none (docs/design.md#typed-answers).
	Choices map[string]choices.List
	// Checkpoints and Approvals count those recorded at the node; ids of further ones are
	// derived from the counts.
	Checkpoints int
	Approvals   int // of people's decisions, and approvals of versions that had none
	// Performers are the accounts that handed in the current outputs, without any output those that made
	// the attempts; empty where no rule excludes them.
	Performers []config.Account
	// Observed returns the values that the session's log has for the key of an observation.
	Observed func(key string) []string
	// People are those of the settings in force, nil for decisions that are made again: the record of
	// each approval says what its person held then.
	People *config.People
}

// OpenGap is an unresolved gap of the node.
type OpenGap struct {
	ID       id.Gap
	Reason   reason.Code
	Pointer  *reason.Pointer
	Severity event.Severity
}

// Output is a current output of the node. JSON is the parsed artifact, null if it is not
// JSON. Left reports that an accepted attempt left the node with it: the result of a command
// does not count for another branch (docs/design.md#going-back).
type Output struct {
	ID      id.Output
	Payload event.OutputPayload
	JSON    canon.Value
	Left    bool
	// Decision is what a person's decision says; nil for any other output.
	Decision *event.StepDecision
}

// Attempt is one try to acknowledge the node's pending step.
type Attempt struct {
	ID      id.Attempt
	Request Request
	// Digest overrides the computed digest of the request, for re-execution: notes that were
	// truncated cannot be restored. Zero: compute it.
	Digest canon.Digest
	Actor  event.Actor
	AtMs   int64 // clock reading in milliseconds since 1970
	// Performed reports that the performer of the session makes the attempt. The result of a
	// command is its observation, not a statement of the caller, and the engine is the actor of
	// that output (docs/design.md#commands-and-trust).
	Performed bool
	// Lease is the token of the performer's lease, 0 without one; it becomes that of the plan.
	Lease int64
	// Renamed reports that the attempt is decided again in a session to which an import gave other ids:
	// the results of its checks all state one attempt, that of the other store.
	Renamed bool
	// Earlier reports that the attempt is decided again as earlier versions recorded it: without gaps
	// about preferred capabilities and evidence of gaps, with the pinned example of a contract, and with
	// texts over their budgets cut anywhere.
	Earlier bool
	// Account is that of the process that makes the attempt, or the recorded one.
	Account config.Account
	// Observations are what the process sees of its workspace. Those of branch and commit that the log does not
	// have are recorded.
	Observations []event.ObservationRecorded
	// Traceparent is the trace context of the call, "" without one.
	Traceparent string
}
