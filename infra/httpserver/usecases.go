package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// Host has the use cases of one store. Its methods are called from many goroutines. Errors are faults: the server makes
// envelopes of them by one table (openwop.EnvelopeOf). A run is named by its whole id; any other text is RUN_NOT_FOUND.
type Host interface {
	bundles
	seams
	Forks
	Pausing
	Interrupts

	// Keys returns the keys that count now (docs/design.md#openwop-keys). It is called for each request.
	Keys(ctx context.Context) ([]httpkeys.Key, error)

	// Discovery returns the document of /.well-known/openwop.
	Discovery(ctx context.Context) (canon.Value, error)
	// Workflow returns the definition of a workflow as the protocol describes it. WORKFLOW_NOT_FOUND.
	Workflow(ctx context.Context, workflowID string) (canon.Value, error)

	// CreateRun starts a run and has it performed. With a key that a run was created with, that run is returned and
	// replayed is true; IDEMPOTENCY_MISMATCH if it was created by another request.
	CreateRun(ctx context.Context, by event.Actor, key string, in openwop.CreateRun) (out openwop.RunCreated,
		replayed bool, err error)
	// Snapshot returns the state of a run.
	Snapshot(ctx context.Context, run string) (openwop.Snapshot, error)
	// Feed returns the events of a run as they are recorded. The caller closes it.
	Feed(ctx context.Context, run string) (Feed, error)
	// Cancel requests the end of a run; an ended run is returned as it is.
	Cancel(ctx context.Context, by event.Actor, run, reason string) (openwop.RunState, error)

	// FeedbackProvided reports whether annotations are provided: it is asked before anything else of a request for them.
	FeedbackProvided(ctx context.Context) (bool, error)
	// Annotate records an annotation, and returns it in the form of the protocol. key is the idempotency key, "" for none.
	Annotate(ctx context.Context, by event.Actor, key, run string, in canon.Value) (canon.Value, error)
	Annotations(ctx context.Context, run string) ([]canon.Value, error)

	// ProposalsProvided is FeedbackProvided for proposals.
	ProposalsProvided(ctx context.Context) (bool, error)
	// Proposals lists the proposals with a state and of a kind, "" for any.
	Proposals(ctx context.Context, state, kind string) ([]proposal.Proposal, error)
	Proposal(ctx context.Context, id string) (proposal.Proposal, error)
	// Revise changes title, rationale or artifact, which patch has.
	Revise(ctx context.Context, by event.Actor, id string, patch canon.Value) (proposal.Proposal, error)
	// Apply installs a proposal whose approvals are given. Without an error and with pending it was not installed, for
	// lack of the approvals that pending counts.
	Apply(ctx context.Context, by event.Actor, id string) (out proposal.Proposal, pending *PendingGate, err error)
	Reject(ctx context.Context, by event.Actor, id, reason string) (proposal.Proposal, error)
	Archive(ctx context.Context, by event.Actor, id, reason string) (proposal.Proposal, error)

	// Replay returns the answer that was recorded for an idempotency key of a caller, nil if there is none; Record records
	// one, if answers with its status are kept. The routes that use them are those that create no run.
	// IDEMPOTENCY_MISMATCH: another request had the key.
	Replay(ctx context.Context, by event.Actor, key, route string, body canon.Digest) (*Recorded, error)
	Record(ctx context.Context, by event.Actor, key, route string, body canon.Digest, out Recorded) error
}

// PendingGate is how many approvals a proposal has and wants, and the role of approvers.
type PendingGate struct {
	Have int64  `json:"have"`
	Want int64  `json:"want"`
	Role string `json:"role"`
}

// Recorded is an answer that is kept for an idempotency key.
type Recorded struct {
	Status int
	Body   canon.Value
}

// Feed is the run events of one run. It is for one goroutine.
type Feed interface {
	// Next returns what is recorded behind a sequence (-1: everything), at most a page of it. Without any it waits for
	// the next event, until ctx ends. Ended is true once no event will follow those returned.
	Next(ctx context.Context, after int64) (Chunk, error)
	// Now is Next without waiting.
	Now(ctx context.Context, after int64) (Chunk, error)
	Close()
}

// Chunk is what Feed.Next returns: events with their sequences, and notifications, which have none and are returned once.
type Chunk struct {
	Events        []openwop.RunEvent
	Notifications []Notification
	Ended         bool
}

// Notification is a message of a live stream that is in no log: an annotation, or a fact about a proposal.
type Notification struct {
	Type    openwop.EventType
	Payload canon.Value
	AtMs    int64
}
