package hosting

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/replay"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// Forks forks and replays the runs of one store for clients of the protocol. It is safe for concurrent use.
type Forks struct {
	runs    Runs
	wire    *wire.Wire
	replays *replay.Replayer
}

// NewForks returns the forks of the store of runs.
func NewForks(r Runs, w *wire.Wire, s replay.Store) Forks {
	return Forks{r, w, replay.New(r.e, s, r.performers)}
}

// ForkRequest is a request to fork a run.
type ForkRequest struct {
	Source string // the whole id of the run
	Body   openwop.ForkRun
	// Key is the idempotency key, "" for none. Keys of two actors do not meet, nor those of two routes.
	Key string
	// Allow returns why the commands and host steps of the run's workflow cannot be performed here, nil if they can.
	Allow        func(ctx context.Context, d engine.Definition) error
	Observations []event.ObservationRecorded
}

// Fork creates a run that follows from another one before a run event (docs/design.md#openwop-forks). With a key that a
// run was forked with, that run is returned.
//
// Errors: RUN_NOT_FOUND; FORK_POINT_INVALID for a sequence behind the last run event, for a branch where every step is
// done, and for a replay of a fork; WORKFLOW_UNTRUSTED for an imported run, and as of Allow; IDEMPOTENCY_MISMATCH;
// VALIDATION_ERROR. Nothing is written with any of them.
func (f Forks) Fork(ctx context.Context, by engine.Caller, seed id.Seed, req ForkRequest) (out Created, err error) {
	at, err := f.runs.Find(ctx, req.Source)
	if err != nil {
		return out, err
	}
	h := f.runs.e.NewHistory(at.Session)
	p, err := h.OpenRun(ctx, at)
	if err != nil {
		return out, err
	}
	started := p.Run.Started
	workflow := started.WorkflowID
	digest, key := canon.Digest{}, ""
	if req.Key != "" {
		if digest, err = digestOf(req); err != nil {
			return out, err
		}
		key = startkey.OfRequest(by.Actor.Ref+"\x00fork", req.Key)
		if out, ok, err := f.runs.recorded(ctx, key, workflow, digest); ok || err != nil {
			return out, err
		}
	}
	if err := f.refuseImported(ctx, at); err != nil {
		return out, err
	}
	if req.Body.Mode == event.Replay {
		out.At, err = f.replay(ctx, by, seed, at, replay.Request{Source: at, Key: key, RequestDigest: digest,
			Sequence: req.Body.FromSeq})
	} else if err = f.allow(ctx, started, req); err == nil {
		out, err = f.branch(ctx, by, seed, at, req, engine.ClientFork{Key: key, RequestDigest: digest,
			Sequence: req.Body.FromSeq})
	}
	if err != nil {
		return out, mismatchOf(err)
	}
	if key != "" { // also where a request that was made at the same time was first
		was := out.Replayed
		if out, _, err = f.runs.recorded(ctx, key, workflow, digest); err == nil {
			out.Replayed = was
		}
	}
	return out, err
}

// digestOf is the digest of a request: of the run and the body.
func digestOf(req ForkRequest) (canon.Digest, error) {
	body, err := canon.ValueOf(req.Body)
	return canon.Sum(canon.OfMembers(canon.Member{Name: "body", Value: body},
		canon.Member{Name: "run", Value: canon.OfString(req.Source)}).JCS()), err
}

// allow asks whether the steps of a run's workflow can be performed here.
func (f Forks) allow(ctx context.Context, started event.RunStarted, req ForkRequest) error {
	w, err := f.runs.e.Workflow(ctx, started.WorkflowHash)
	if err != nil {
		return err
	}
	return req.Allow(ctx, engine.Definition{Workflow: w, SourceKind: started.WorkflowSourceKind, SourceRef: started.WorkflowSourceRef})
}

// refuseImported refuses a run whose last event came with a bundle: any program can write one, and what follows from it
// would be performed, or count as decided here.
func (f Forks) refuseImported(ctx context.Context, at engine.Position) error {
	came, err := f.runs.e.Ledger().ImportedOf(ctx, at.Session)
	if err != nil || came.IsEmpty() {
		return err
	}
	return fault.New(fault.WorkflowUntrusted, "run %s came with a bundle; it is not forked over HTTP", at.Run).
		Suggest("A person can continue from it with %s.", fault.Command{"fork", at.Run.String()})
}

// branch creates a run that continues from the node before a run event.
func (f Forks) branch(ctx context.Context, by engine.Caller, seed id.Seed, at engine.Position, req ForkRequest,
	c engine.ClientFork) (out Created, err error) {
	place, err := f.place(ctx, at, c.Sequence)
	if err != nil {
		return out, err
	}
	if place.Complete {
		return out, fault.New(fault.ForkPointInvalid, "every step is done before run event %d: a branch would have none to perform",
			c.Sequence).Suggest("Send a smaller sequence.").With("pointer", "/fromSeq")
	}
	point, err := f.runs.e.ForkPoint(ctx, engine.Position{Session: place.Session, Run: place.Run, Node: place.Node})
	if err != nil {
		return out, err
	}
	overlay := req.Body.RunOptionsOverlay
	c.Context, c.Tags = overlay.Inputs, overlay.Tags
	if !overlay.Configurable.IsNull() || !overlay.Metadata.IsNull() {
		c.Options = &event.RunOptions{Configurable: overlay.Configurable, Metadata: overlay.Metadata}
	}
	a, err := f.runs.e.Fork(ctx, by, seed, engine.ForkRequest{From: point, Client: &c, Observations: req.Observations})
	return Created{At: a.Position(), Replayed: a.Replayed}, err
}

// place returns the node before a run event.
func (f Forks) place(ctx context.Context, at engine.Position, sequence int64) (wire.Fork, error) {
	place, err := f.wire.ForkAt(ctx, wire.Place{Session: at.Session, Run: at.Run}, sequence)
	if err == nil && sequence >= place.Events {
		err = fault.New(fault.ForkPointInvalid, "run %s has %d run events: there is none with the sequence %d", at.Run,
			place.Events, sequence).Suggest("Send a sequence from 0 to %d.", place.Events-1).With("pointer", "/fromSeq").
			With("lastSequence", place.Events-1)
	}
	return place, err
}

// replay begins a replay of a run.
func (f Forks) replay(ctx context.Context, by engine.Caller, seed id.Seed, at engine.Position,
	req replay.Request) (engine.Position, error) {
	if _, err := f.place(ctx, at, req.Sequence); err != nil {
		return engine.Position{}, err
	}
	return f.replays.Begin(ctx, by, seed, req)
}

// Continue decides what a replay did not decide yet. Errors as of replay.Replayer.Continue.
func (f Forks) Continue(ctx context.Context, at engine.Position) error {
	return f.replays.Continue(ctx, at)
}
