// Package hosting implements the use cases of a host of the OpenWOP protocol that other callers do not have
// (docs/design.md#openwop-host): runs that are created once for an idempotency key and cancelled, and proposals that are
// changed in part. It performs no run and renders no event; packages perform and projections/wire do.
//
// Start reading at Runs.Create.
package hosting

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
	"github.com/waybill/waybill/projections/wire"
)

// Runs creates and cancels runs of one store. It is safe for concurrent use.
type Runs struct {
	e          *engine.Engine
	logs       ports.Logs
	performers ports.Performers
}

// NewRuns returns the runs of the store of an engine.
func NewRuns(e *engine.Engine, logs ports.Logs, p ports.Performers) Runs { return Runs{e, logs, p} }

// Request is a request to create a run.
type Request struct {
	Body openwop.CreateRun
	// Key is the idempotency key, "" for none. Keys of two actors do not meet.
	Key string
	// Definition returns the workflow that the body names. It is not called for a request that is on record.
	Definition func(ctx context.Context, workflowID string) (engine.Definition, error)
	// Allow returns why the commands and host steps of a workflow cannot be performed here, nil if they can.
	Allow        func(ctx context.Context, d engine.Definition) error
	Observations []event.ObservationRecorded
}

// Created is a run that was created, now or by an earlier request with the key.
type Created struct {
	At       engine.Position
	Replayed bool
}

// Create starts a run. What the body has beside the inputs is recorded and decides nothing. With a key that a run was
// created with, that run is returned. Errors: IDEMPOTENCY_MISMATCH if it was created by another request,
// WORKFLOW_NOT_FOUND, those of Allow and of Start; nothing is written with any of them.
func (r Runs) Create(ctx context.Context, by engine.Caller, seed id.Seed, req Request) (Created, error) {
	body, key := canon.Digest{}, ""
	if req.Key != "" {
		value, err := canon.ValueOf(req.Body)
		if err != nil {
			return Created{}, err
		}
		body, key = canon.Sum(value.JCS()), startkey.OfRequest(by.Actor.Ref, req.Key)
		if out, ok, err := r.recorded(ctx, key, req.Body.WorkflowID, body); ok || err != nil {
			return out, err
		}
	}
	d, err := req.Definition(ctx, req.Body.WorkflowID)
	if err == nil {
		err = req.Allow(ctx, d)
	}
	inputs := req.Body.Inputs
	if err == nil {
		inputs, err = configured(d, req.Body)
	}
	if err != nil {
		return Created{}, err
	}
	a, err := r.e.Start(ctx, by, seed, engine.Start{Workflow: d.Workflow, SourceKind: d.SourceKind, SourceRef: d.SourceRef,
		Key: key, Requested: true, Context: inputs, Tags: req.Body.Tags, ByAgent: true,
		Options: optionsOf(req.Body, body), Observations: req.Observations})
	if err != nil {
		return Created{}, mismatchOf(err)
	}
	out := Created{At: a.Position(), Replayed: a.Replayed}
	if a.Replayed { // by a request that was made at the same time
		_, _, err = r.recorded(ctx, key, req.Body.WorkflowID, body)
	}
	return out, err
}

// configured returns the inputs of a run, with the declared ones that the configuration has. A workflow that declares inputs
// can be configured with these and with what the protocol defines; any other workflow with anything, which decides nothing.
func configured(d engine.Definition, b openwop.CreateRun) (canon.Value, error) {
	declared, inputs := wire.Declared(d.Workflow), b.Inputs
	if len(declared) == 0 {
		return inputs, nil
	}
	if err := openwop.CheckConfigurable(declared, b.Configurable); err != nil {
		return inputs, err
	}
	for _, c := range declared {
		v, given := b.Configurable.Get(c.Key)
		if _, sent := inputs.Get(c.Key); !given || sent || openwop.IsReserved(c.Key) {
			continue
		}
		if inputs.IsNull() {
			inputs = canon.OfMembers()
		}
		inputs = inputs.With(c.Key, v)
	}
	return inputs, nil
}

// optionsOf are the options that are recorded with a run, nil for none.
func optionsOf(b openwop.CreateRun, digest canon.Digest) *event.RunOptions {
	o := event.RunOptions{Configurable: b.Configurable, Metadata: b.Metadata, RequestDigest: digest}
	if o.IsZero() {
		return nil
	}
	return &o
}

// recorded returns the run that was created with a start key; ok is false if there is none.
func (r Runs) recorded(ctx context.Context, key, workflowID string, body canon.Digest) (out Created, ok bool, err error) {
	found, ok, err := r.e.Starts().Find(ctx, key, workflowID)
	if err != nil || !ok {
		return out, false, mismatchOf(err)
	}
	r.e.NoteHome(found.Run, found.Session)
	h := r.e.NewHistory(found.Session)
	p, err := h.OpenRun(ctx, engine.Position{Session: found.Session, Run: found.Run})
	if err == nil {
		err = h.Confirm(ctx) // the answer acknowledges what another process may have written
	}
	if err != nil {
		return out, false, err
	}
	if p.Run.Started.Options == nil || p.Run.Started.Options.RequestDigest != body {
		return out, false, mismatch()
	}
	return Created{At: engine.Position{Session: found.Session, Run: found.Run, Node: p.Run.Tip}, Replayed: true}, true, nil
}

// mismatchOf is the error for a start key that names a run of another workflow: to a caller of the protocol another body.
func mismatchOf(err error) error {
	if fault.Is(err, fault.StartKeyTaken) {
		return mismatch()
	}
	return err
}

// mismatch is IDEMPOTENCY_MISMATCH. It does not name the run, which may belong to another request.
func mismatch() error {
	return fault.New(fault.IdempotencyMismatch, "another request was made with this idempotency key").
		Suggest("Send the request that was made with it, or another key.")
}

// Options returns the options that were recorded with a run, nil for none.
func (r Runs) Options(ctx context.Context, at engine.Position) (*event.RunOptions, error) {
	p, err := r.e.NewHistory(at.Session).OpenRun(ctx, at)
	if err != nil {
		return nil, err
	}
	return p.Run.Started.Options, nil
}

// Find returns the position of a run by its whole id. RUN_NOT_FOUND for any other text.
func (r Runs) Find(ctx context.Context, run string) (engine.Position, error) {
	if _, err := id.ParseRun(run); err != nil {
		return engine.Position{}, fault.New(fault.RunNotFound, "no run has this id")
	}
	return r.e.Locate(ctx, run)
}

// Cancel requests the end of a run. A run that has ended is returned as it is.
func (r Runs) Cancel(ctx context.Context, by engine.Caller, run, reason string) (out openwop.RunState, err error) {
	at, err := r.Find(ctx, run)
	if err != nil {
		return out, err
	}
	out.RunID = run
	ended, err := r.e.Cancel(ctx, by, r.performers, at, engine.CancelRequest{Reason: reason})
	switch {
	case err == nil && ended.Status == runs.Cancelled:
		out.Status = openwop.Cancelled
	case err == nil:
		out.Status = openwop.Cancelling
	default:
		out.Status, err = r.ended(ctx, at, err)
	}
	return out, err
}

// ended returns the status of a run that has ended, for which a cancellation was refused; the refusal of any other one.
func (r Runs) ended(ctx context.Context, at engine.Position, refusal error) (openwop.Status, error) {
	at, err := r.e.Locate(ctx, at.Run.String()) // the run may have ended since it was found
	if err != nil {
		return "", refusal
	}
	a, err := r.e.Rehydrate(ctx, at)
	switch {
	case err != nil:
		return "", refusal
	case a.IsComplete:
		return openwop.Completed, nil
	case a.Status == runs.Failed:
		return openwop.Failed, nil
	case a.Status == runs.Cancelled:
		return openwop.Cancelled, nil
	}
	return "", refusal
}

// KeyActor begins the references of actors that are keys of the server.
const KeyActor = "key:"

// Requested reports a run that a request with a key of the server created: one that the server performs, or whose replay
// it continues.
func Requested(started event.RunStarted, by event.Actor) bool {
	return by.Kind == event.Agent && strings.HasPrefix(by.Ref, KeyActor) &&
		(started.ForkedFrom == nil || started.ForkedFrom.Mode != "")
}
