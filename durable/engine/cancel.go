package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// CancelRequest asks for the end of a run.
type CancelRequest struct {
	Reason string // at most limits.SummaryBytesMax bytes; "" is recorded as none given
	Failed bool   // the run is to count as failed, not as cancelled
}

// Cancelled is how a run stands after its end was asked for. Status is cancelling
// where a performer still has to stop.
type Cancelled struct {
	RunID     id.Run             `json:"runId"`
	SessionID id.Session         `json:"sessionId"`
	Status    projections.Status `json:"status"`
	Reason    string             `json:"reason"` // the recorded one
	// Already says that the call recorded nothing: what it asks for was on record.
	Already bool `json:"already"`
}

// Cancel ends the run of a position; its node is not looked at (R23). Where nobody
// carries the run out, it is closed at once. Else the request is recorded, and
// whoever does closes the run when they have stopped. The same call again answers
// what is recorded. RUN_CLOSED says that the run ended otherwise, VALIDATION_ERROR
// that it is complete.
func (g *Engine) Cancel(ctx context.Context, by Caller, performers ports.Performers, at Position,
	req CancelRequest) (Cancelled, error) {
	defer g.writePendingAudit(ctx)
	c := advance.Cancellation{Reason: req.Reason, Outcome: event.OutcomeCancelled, Actor: by.Actor, AtMs: by.AtMs}
	if req.Failed {
		c.Outcome = event.OutcomeFailed
	}
	// What would be refused in any case is refused before a lock file is touched.
	if err := g.checkCancel(ctx, at, c); err != nil {
		return Cancelled{}, err
	}
	out, err := g.cancel(ctx, performers, at, c)
	if err != nil || out.Status != projections.Cancelling {
		return out, err
	}
	// The performer may have let go between the look at its lock and the record of the
	// request. It looks for one after it let go, so that one of the two sees the other.
	again, err := g.cancel(ctx, performers, at, c)
	if err != nil {
		return out, nil // the request is on record; that the second look failed takes nothing back
	}
	again.Already = out.Already && again.Already
	return again, nil
}

func (g *Engine) checkCancel(ctx context.Context, at Position, c advance.Cancellation) error {
	fold := g.takeFold(at.Session)
	p, err := g.openRun(ctx, at, fold)
	if err != nil {
		return err
	}
	g.putFold(at.Session, fold)
	if err := g.notComplete(ctx, p); err != nil {
		return err
	}
	_, err = advance.Cancel(endingOf(at, p), c)
	return err
}

// cancel records what is missing, closing the run if nobody carries it out.
func (g *Engine) cancel(ctx context.Context, performers ports.Performers, at Position,
	c advance.Cancellation) (Cancelled, error) {
	release, err := performers.Hold(ctx, at.Session)
	switch {
	case err == nil:
		c.Close = true
		defer func() { _ = release() }()
	case !fault.Is(err, fault.RunBusy):
		return Cancelled{}, err
	}
	return g.appendEnding(ctx, at, func(p resolvedPosition) (manifest.Plan, error) {
		if err := g.notComplete(ctx, p); err != nil {
			return manifest.Plan{}, err
		}
		return advance.Cancel(endingOf(at, p), c)
	})
}

// Close ends a run whose cancellation was asked for: what a performer does when it
// has stopped. A run that is closed already is left as it is.
func (g *Engine) Close(ctx context.Context, by Caller, at Position) (Cancelled, error) {
	defer g.writePendingAudit(ctx)
	return g.appendEnding(ctx, at,
		func(p resolvedPosition) (manifest.Plan, error) { return advance.Close(endingOf(at, p), by.AtMs) })
}

// end appends what plan comes to under the session's lock, and tells how the run
// stands then.
func (g *Engine) appendEnding(ctx context.Context, at Position,
	plan func(resolvedPosition) (manifest.Plan, error)) (out Cancelled,
	err error) {
	fold := g.takeFold(at.Session)
	inside := func(w ports.Witness, _ manifest.Verdict) error {
		p, err := findRun(fold, at)
		if err != nil {
			return err
		}
		planned, err := plan(p)
		if err != nil {
			return err
		}
		if out.Already = len(planned.Events) == 0; out.Already {
			return nil
		}
		return g.append(ctx, w, fold, planned)
	}
	log := manifest.SessionEvents(at.Session)
	err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, fold.Head, fold, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		fold.Reset()
		err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, manifest.Head{}, fold, inside)
	}
	if err != nil {
		return out, err
	}
	p, err := findRun(fold, at)
	if err != nil {
		return out, err
	}
	out.RunID, out.SessionID, out.Status = at.Run, at.Session, projections.Cancelling
	switch r := p.run; {
	case r.Closed != nil:
		out.Reason, out.Status = r.Closed.Reason, r.StatusAt(r.Tip, projections.TipState{})
	case r.CancelRequested != nil:
		out.Reason = r.CancelRequested.Reason
	}
	if out.Already {
		// Another process wrote what is told now: a power cut must not take it back.
		if err := g.confirm(ctx, at.Session, fold); err != nil {
			return out, err
		}
	}
	g.putFold(at.Session, fold)
	return out, nil
}

// notComplete refuses to end what has ended by itself.
func (g *Engine) notComplete(ctx context.Context, p resolvedPosition) error {
	if p.run.Closed != nil || p.run.CancelRequested != nil {
		return nil
	}
	tip := p.run.Node(p.run.Tip)
	if tip == nil {
		return fault.New(fault.Invariant, "run %s has no tip", p.run.ID)
	}
	state, err := g.state(ctx, tip)
	if err != nil || !state.IsComplete() {
		return err
	}
	return fault.New(fault.ValidationError, "run %s is complete: there is nothing to cancel", p.run.ID).
		Suggest("See 'waybill runs show %s'.", p.run.ID).With("runId", p.run.ID.String())
}

func endingOf(at Position, p resolvedPosition) advance.Ending {
	return advance.Ending{Session: at.Session, Run: at.Run, Next: p.fold.Next, Requested: p.run.CancelRequested,
		Closed: p.run.Closed}
}

// openRun is open for use cases that concern a run as a whole.
func (g *Engine) openRun(ctx context.Context, at Position, f *projections.Fold) (resolvedPosition, error) {
	v, err := g.readFromSaved(ctx, at.Session, f)
	if err != nil {
		return resolvedPosition{}, err
	}
	if v.Health != manifest.Healthy {
		return resolvedPosition{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	}
	return findRun(f, at)
}

// findRun looks a run up. Runs are never left out of a fold, but one that missed an
// event may not know how its run stands.
func findRun(f *projections.Fold, at Position) (resolvedPosition, error) {
	p := resolvedPosition{fold: f, run: f.Runs[at.Run]}
	switch {
	case f.Missed():
		return p, errFoldIncomplete
	case p.run == nil:
		return p, fault.New(fault.RunNotFound, "session %s holds no run %s", at.Session, at.Run)
	}
	return p, nil
}
