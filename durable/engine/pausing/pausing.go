// Package pausing implements the use cases that hold a run and release it (docs/design.md#pauses). While a run is paused no
// performer takes a step of it and no attempt is accepted; package engine and package perform ask for that.
//
// Start reading at Pauses.Pause.
package pausing

import (
	"cmp"
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Pauses pauses and resumes runs of one store. It is safe for concurrent use.
type Pauses struct {
	e     *engine.Engine
	store engine.Store
}

// New returns the pauses of the store of an engine.
func New(e *engine.Engine, s engine.Store) Pauses { return Pauses{e, s} }

// Request requests a pause, or its end.
type Request struct {
	// Reason has at most limits.SummaryBytesMax bytes; "" is recorded as none given.
	Reason string
	// Drain lets the run take the attempt at its current step first. It has no meaning for Resume.
	Drain bool
}

// State is a run after a call.
type State struct {
	RunID     id.Run      `json:"runId"`
	SessionID id.Session  `json:"sessionId"`
	Status    runs.Status `json:"status"`
	// Paused is the pause in force, or the one that was withdrawn or ended; nil if the run was not paused.
	Paused *session.PausedRun `json:"paused,omitzero"`
	// Already reports that the call appended nothing: the run was paused, or was not, as requested.
	Already bool `json:"already"`
	// Redactions are the places of the request from which a secret was removed.
	Redactions []redact.Finding `json:"redactions,omitzero"`
}

// plan plans what a call records.
type plan func(advance.PauseFacts, advance.Hold) (manifest.Plan, error)

// Pause holds the run of a position; the position's node is ignored. A step that is being performed is performed to its
// end, and its attempt is recorded. Errors: RUN_CLOSED for a run that ended or is being cancelled, VALIDATION_ERROR for a
// complete one, SESSION_HANDED_OVER, RUN_NOT_FOUND, SESSION_UNHEALTHY.
func (x Pauses) Pause(ctx context.Context, by engine.Caller, at engine.Position, req Request) (State, error) {
	return x.hold(ctx, by, at, req, advance.Pause)
}

// Resume ends the pause of a run. Errors as of Pause.
func (x Pauses) Resume(ctx context.Context, by engine.Caller, at engine.Position, req Request) (State, error) {
	return x.hold(ctx, by, at, req, advance.Resume)
}

// hold appends what is planned, if it is not recorded already.
func (x Pauses) hold(ctx context.Context, by engine.Caller, at engine.Position, req Request, planned plan) (out State,
	err error) {
	h := advance.Hold{Reason: req.Reason, Drain: req.Drain, Actor: by.Actor, AtMs: by.AtMs}
	// Looked at first without a lock, so that a refused or repeated request creates no lock file.
	history := x.e.NewHistory(at.Session)
	p, err := history.OpenRun(ctx, at)
	if err != nil {
		return out, err
	}
	c := &call{Pauses: x, planned: planned, request: h}
	seg, err := c.plan(ctx, p)
	if err != nil {
		return out, err
	}
	var found redact.Findings
	c.request.Reason = advance.StoredText(&found, "/reason", h.Reason, limits.SummaryBytesMax)
	out.Redactions = found.List()
	if out.Already = len(seg.Events) == 0; out.Already {
		err = history.Confirm(ctx) // another process wrote what this answer reports
	} else {
		p, out.Already, err = c.append(ctx, at)
	}
	if err != nil {
		return out, err
	}
	out.RunID, out.SessionID, out.Paused = at.Run, at.Session, cmp.Or(session.PausedOf(p.Run), c.before)
	out.Status = p.Run.StatusAt(p.Run.Tip, c.tip)
	return out, nil
}

// call is one call of hold.
type call struct {
	Pauses
	planned plan
	request advance.Hold
	before  *session.PausedRun // the pause of the run as it was planned for
	tip     runs.TipState      // read before anything is appended: what is recorded is reported
}

// append plans again under the session's lock, and appends.
func (c *call) append(ctx context.Context, at engine.Position) (p session.Resolved, already bool, err error) {
	history := c.e.NewHistory(at.Session)
	inside := func(w ports.Witness, v manifest.Verdict) error {
		if p, err = session.FindRun(history.Fold, at); err != nil {
			return err
		}
		seg, err := c.plan(ctx, p)
		if already = err == nil && len(seg.Events) == 0; already || err != nil {
			return err
		}
		head, err := c.store.Append(ctx, w, v.Head, seg)
		if err != nil {
			return err
		}
		c.e.NoteDurable(seg.Log, head, true)
		return history.Fold.Visit(manifest.Segment{Events: seg.Events}, head)
	}
	err = ports.WithHealthySession(ctx, c.store, c.store, history.Log, history.Fold.Head, history.Visitor(), inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		err = ports.WithHealthySession(ctx, c.store, c.store, history.Log, manifest.Head{}, history.Visitor(), inside)
	}
	if err == nil {
		history.Keep()
	}
	return p, already, err
}

// plan plans what a call records, or refuses it.
func (c *call) plan(ctx context.Context, p session.Resolved) (manifest.Plan, error) {
	if err := c.e.Ledger().RefuseHandedOver(ctx, p.At.Session, p.Fold); err != nil {
		return manifest.Plan{}, err
	}
	tip := p.Run.Node(p.Run.Tip)
	if tip == nil {
		return manifest.Plan{}, fault.New(fault.Invariant, "run %s has no tip", p.Run.ID)
	}
	w, err := c.e.Workflow(ctx, p.Run.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, err
	}
	state, err := c.e.State(ctx, tip)
	if err != nil {
		return manifest.Plan{}, err
	}
	c.before, c.tip = session.PausedOf(p.Run), session.TipState(w, tip, state)
	if err := advance.RefusePauses(p.Run.ID, outcomeOf(p.Run), state.IsComplete()); err != nil {
		return manifest.Plan{}, err
	}
	return c.planned(FactsOf(p), c.request)
}

// FactsOf collects what advance.Pause and advance.Resume need to know about a run.
func FactsOf(p session.Resolved) advance.PauseFacts {
	f := advance.PauseFacts{Session: p.At.Session, Run: p.At.Run, Next: p.Fold.Next, Pauses: p.Run.Pauses, InForce: p.Run.Paused()}
	if p.Run.Pause != nil {
		f.Current = &p.Run.Pause.RunPaused
	}
	return f
}

// outcomeOf is the outcome of a run whose end is recorded or requested, "" for any other one.
func outcomeOf(r *runs.Run) event.RunOutcome {
	switch {
	case r.Closed != nil:
		return r.Closed.Outcome
	case r.CancelRequested != nil:
		return r.CancelRequested.EndOutcome()
	}
	return ""
}
