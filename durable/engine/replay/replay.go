// Package replay decides the recorded inputs of a run again, in a session of their own: what was handed in, and the results
// of commands and host steps, are taken from the source, and nothing is performed (docs/design.md#openwop-forks).
//
// A replay is a function of its source up to the head that it names. Begin writes its first segment, Continue the others,
// each once: a process that is killed leaves a prefix, which the next call compares and continues. Where a run event is not
// the source's, that is recorded before it. The package decides nothing itself; package advance does, and
// projections/wire says what clients read. Start reading at Replayer.Continue.
package replay

import (
	"bytes"
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/lineage"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
	"github.com/waybill/waybill/projections/wire"
)

// Store is what replays require of a store.
type Store interface {
	session.Source
	ports.Locks
	ports.Identity
}

// Replayer replays the runs of one store. It is safe for concurrent use.
type Replayer struct {
	e          *engine.Engine
	store      Store
	performers ports.Performers
	// alter changes a recorded input before it is decided; nil outside of tests.
	alter func(redrive.Operation, *advance.Attempt)
}

// New returns the replayer of the store of an engine.
func New(e *engine.Engine, s Store, p ports.Performers) *Replayer {
	return &Replayer{e: e, store: s, performers: p}
}

// Request is a request for a replay of a run.
type Request struct {
	Source engine.Position
	// Key is an idempotency key as of engine.Start, "" for none, and RequestDigest that of the request.
	Key           string
	RequestDigest canon.Digest
	// Sequence is what the client asked for; the whole run is decided again, and compared.
	Sequence int64
}

// Begin starts a replay, and returns its first node; a repeated call with the same seed or key that of the first. The
// source is read and not written.
//
// Errors: FORK_POINT_INVALID for a run that is a fork or a replay itself, since its beginning is in another log;
// RUN_NOT_FOUND; SESSION_UNHEALTHY for a damaged source, and for one with kinds of events that are not known.
func (x *Replayer) Begin(ctx context.Context, by engine.Caller, seed id.Seed, req Request) (at engine.Position, err error) {
	at.Session, at.Run = id.NewSession(seed), id.NewRun(seed)
	if req.Key != "" {
		store, err := x.store.StoreID(ctx, ports.MayCreate)
		if err != nil {
			return at, err
		}
		at.Session, at.Run = id.KeyedSession(store, req.Key), id.KeyedRun(store, req.Key)
	}
	at.Node = id.RootNode(at.Run)
	from := event.ForkedFrom{SessionID: req.Source.Session, RunID: req.Source.Run, Mode: event.Replay, Sequence: req.Sequence}
	first, err := x.sourceOf(ctx, &from)
	if err != nil {
		return at, err
	}
	d := &drive{Replayer: x, at: at, from: from, by: by.Actor, request: req.RequestDigest, h: x.e.NewHistory(at.Session)}
	plan, err := d.start(ctx, first)
	if err != nil {
		return at, err
	}
	x.e.NoteHome(at.Run, at.Session)
	inside := func(w ports.Witness, v manifest.Verdict) error {
		if !v.Unborn() {
			return nil // of a repeated call
		}
		return d.commit(ctx, w, plan)
	}
	err = ports.WithHealthySession(ctx, x.store, x.store, d.h.Log, manifest.Head{}, d.h.Visitor(), inside)
	if err == nil {
		err = d.h.Confirm(ctx)
	}
	return at, err
}

// sourceOf reads the source of a replay, completes where it is forked, and returns its first segment.
func (x *Replayer) sourceOf(ctx context.Context, from *event.ForkedFrom) (first manifest.Segment, err error) {
	log := manifest.SessionEvents(from.SessionID)
	var lines *lineage.Lineage
	v, err := x.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		lines = lineage.New(from.RunID)
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if seg.First == 0 {
				first = seg
			}
			return lines.Visit(seg, head)
		})
	})
	if err == nil && v.Health != manifest.Healthy {
		err = ports.Unhealthy(log, v)
	}
	if err != nil {
		return first, err
	}
	run := lines.Runs[from.RunID]
	switch {
	case run == nil || run.Node(run.Root) == nil:
		return first, fault.New(fault.RunNotFound, "session %s holds no run %s", from.SessionID, from.RunID)
	case run.Started.ForkedFrom != nil:
		return first, fault.New(fault.ForkPointInvalid, "run %s was forked, and its beginning is in another session", run.ID).
			Suggest("Replay run %s, from which it was forked.", run.Started.ForkedFrom.RunID).
			With("sourceRunId", run.Started.ForkedFrom.RunID.String())
	}
	if err := lines.Known(from.SessionID); err != nil {
		return first, err
	}
	from.NodeID, from.Head = run.Root, lines.Head.Digest
	// The replay names the head, which a power cut must not remove.
	return first, x.store.Confirm(ctx, log, lines.Head)
}

// Continue decides what a replay did not decide yet, to its end. It does nothing for a replay that has ended. A replay
// whose source has no input, or not any more, for what would follow ends as failed.
//
// Errors: RUN_BUSY while another process continues it. VALIDATION_ERROR for a run that is no replay. INVARIANT_VIOLATION
// if its log has anything else than its source gives. Further ones are those of reading and of an append; a repeated call
// continues.
func (x *Replayer) Continue(ctx context.Context, at engine.Position) error {
	return ports.WithHold(ctx, x.performers, at.Session, func(hold ports.Hold) error {
		d := &drive{Replayer: x, at: at, hold: hold, h: x.e.NewHistory(at.Session), nodes: map[id.Node]id.Node{}, log: wire.New(at.Run),
			noted: map[event.DivergenceReason]bool{}}
		fold := runs.NewFold()
		v, err := x.store.Read(ctx, ports.ReadRequest{Log: d.h.Log}, func(manifest.Head) ports.Visitor {
			d.have, fold = nil, runs.NewFold()
			return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
				d.have = append(d.have, recorded{seg, head})
				return fold.Visit(seg, head)
			})
		})
		if err == nil && v.Health != manifest.Healthy {
			err = ports.Unhealthy(d.h.Log, v)
		}
		if err == nil {
			err = d.open()
		}
		if err != nil {
			return err
		}
		run := fold.Runs[at.Run]
		if run.Closed != nil {
			return nil
		}
		if state, err := x.e.State(ctx, run.Node(run.Tip)); err != nil || state.IsComplete() {
			return err
		}
		return d.run(ctx)
	})
}

// recorded is a segment that the log of a replay has.
type recorded struct {
	manifest.Segment
	head manifest.Head
}

// drive is one replay while it is continued.
type drive struct {
	*Replayer
	at      engine.Position
	hold    ports.Hold // of the replay's session
	from    event.ForkedFrom
	by      event.Actor  // who asked for the replay
	request canon.Digest // that of the request
	h       *session.History
	have    []recorded          // what the log of the replay has and that was not met yet
	nodes   map[id.Node]id.Node // of the source, with those of the replay

	log      *wire.Log // of the replay, without what is recorded about its departure
	events   int       // run events so far
	lastAtMs int64     // of the last input
	// noted are the departures that are recorded.
	noted map[event.DivergenceReason]bool
}

// open reads who asked for the replay, and of what, from its first segment.
func (d *drive) open() error {
	if len(d.have) > 0 {
		for _, e := range d.have[0].Events {
			s, ok := e.Data.(event.RunStarted)
			if !ok || e.Scope.RunID != d.at.Run || !s.ForkedFrom.IsReplay() {
				continue
			}
			if d.from, d.by = *s.ForkedFrom, e.Actor; s.Options != nil {
				d.request = s.Options.RequestDigest
			}
			return nil
		}
	}
	return fault.New(fault.ValidationError, "run %s replays no other run", d.at.Run)
}

// run decides each input of the source, and ends a replay that has not ended with them.
func (d *drive) run(ctx context.Context) error {
	source, missing, err := d.readSource(ctx)
	if err != nil {
		return err
	}
	for _, in := range source.inputs {
		if missing {
			break
		}
		lost, err := d.input(ctx, in, source.events)
		if missing = lost || errors.Is(err, errEnds); err != nil && !missing {
			return err
		}
	}
	if missing { // what an earlier call recorded is kept
		if err := d.meetAll(ctx); err != nil {
			return err
		}
	}
	if err := d.finish(ctx, source, missing); err != nil {
		return err
	}
	if len(d.have) > 0 {
		return d.otherLog()
	}
	return nil
}

// errEnds reports that an earlier call found no input where this one has one: the replay ends there.
var errEnds = errors.New("the replay ends for lack of an input")

// meetAll meets what the log has.
func (d *drive) meetAll(ctx context.Context) error {
	for _, seg := range d.have {
		events, err := d.log.Visit(seg.Segment, lookups{ctx, d.e})
		if err != nil {
			return err
		}
		d.events, d.lastAtMs = d.events+len(events), seg.Events[0].TimestampMs
		d.noted[departureIn(seg.Events)] = true
		if err := d.h.Fold.Visit(seg.Segment, seg.head); err != nil {
			return err
		}
	}
	d.have = nil
	return nil
}

// departureIn is the reason of the departure that a segment records, "" for any other segment.
func departureIn(events []event.Event) event.DivergenceReason {
	if p, ok := events[0].Data.(event.DivergenceRecorded); ok && p.Replay != nil {
		return p.Reason
	}
	return ""
}

// otherLog reports a log that has another segment than the source gives.
func (d *drive) otherLog() error {
	return fault.New(fault.Invariant, "run %s has an event %d that the run which it replays does not give", d.at.Run,
		d.h.Fold.Next)
}

// append commits a plan, or meets it in the log where an earlier call committed it.
func (d *drive) append(ctx context.Context, plan manifest.Plan) error {
	if len(d.have) > 0 {
		seg, err := manifest.EncodeSegment(plan.Log, plan.Events)
		have := d.have[0]
		switch {
		case err != nil:
			return err
		case bytes.Equal(seg.Bytes, have.Bytes):
			d.have = d.have[1:]
			return d.h.Fold.Visit(have.Segment, have.head)
		case departureIn(have.Events) == event.ReplaySourceMissing:
			return errEnds
		}
		return d.otherLog()
	}
	return ports.WithHealthySession(ctx, d.store, d.store, d.h.Log, d.h.Fold.Head, func(manifest.Head) ports.Visitor {
		return ports.VisitorFunc(func(manifest.Segment, manifest.Head) error { return d.otherLog() })
	}, func(w ports.Witness, _ manifest.Verdict) error { return d.commit(ctx, w, plan) })
}

// commit appends a plan under the lock of the log.
func (d *drive) commit(ctx context.Context, w ports.Witness, plan manifest.Plan) error {
	plan.Lease = d.hold.Token()
	head, err := d.store.Append(ctx, w, d.h.Fold.Head, plan)
	if err != nil {
		return err
	}
	d.e.NoteDurable(plan.Log, head, true)
	return d.h.Fold.Visit(manifest.Segment{Events: plan.Events}, head)
}

// lookups are the objects that the run events of both runs refer to.
type lookups struct {
	ctx context.Context
	e   *engine.Engine
}

// State implements wire.Lookups.
func (l lookups) State(ref canon.Digest) (wire.State, error) {
	s, err := l.e.State(l.ctx, &runs.Node{SnapshotRef: ref})
	if err == nil {
		return wire.State{View: s.View(), Known: &s}, nil
	}
	if !session.IsForeignForm(err) {
		return wire.State{}, err
	}
	data, err := l.e.Object(l.ctx, manifest.Snapshot, ref)
	v, _ := snapshot.DecodeForeign(data) // the zero View for an unknown form
	return wire.State{View: v}, err
}

// Workflow implements wire.Lookups.
func (l lookups) Workflow(hash canon.Digest) (*compile.Compiled, error) {
	w, err := l.e.Workflow(l.ctx, hash)
	if session.IsForeignForm(err) {
		return nil, nil
	}
	return &w, err
}
