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
	"github.com/waybill/waybill/projections/runs"
)

// CancelRequest requests the end of a run.
type CancelRequest struct {
	// Reason has at most limits.SummaryBytesMax bytes; "" is recorded as none
	// given.
	Reason string
	// Failed makes the outcome failed instead of cancelled.
	Failed bool
}

// Cancelled is the state of a run after its end was requested. Status is
// cancelling while a performer still has to stop.
type Cancelled struct {
	RunID     id.Run      `json:"runId"`
	SessionID id.Session  `json:"sessionId"`
	Status    runs.Status `json:"status"`
	Reason    string      `json:"reason"` // the recorded one
	// Already reports that the call appended nothing: the end was recorded
	// before.
	Already bool `json:"already"`
}

// Cancel ends the run of a position; the position's node is ignored
// (docs/design.md#ends-and-branches). A run that no process performs is closed
// at once. Otherwise a request is recorded, and the performer closes the run
// after it has stopped. Repeated calls return what is recorded.
//
// Errors: RUN_CLOSED if the run ended with another outcome, VALIDATION_ERROR if
// it is complete or the reason is not valid UTF-8, RUN_NOT_FOUND,
// SESSION_UNHEALTHY.
func (g *Engine) Cancel(ctx context.Context, by Caller, performers ports.Performers, at Position,
	req CancelRequest) (Cancelled, error) {
	defer g.writePendingAudit(ctx)
	c := advance.Cancellation{Reason: req.Reason, Outcome: event.OutcomeCancelled, Actor: by.Actor, AtMs: by.AtMs}
	if req.Failed {
		c.Outcome = event.OutcomeFailed
	}
	// Checked first without a lock, so that a refused request creates no lock
	// file.
	if err := g.checkCancel(ctx, at, c); err != nil {
		return Cancelled{}, err
	}
	out, err := g.cancel(ctx, performers, at, c)
	if err != nil || out.Status != runs.Cancelling {
		return out, err
	}
	// The performer may have released its lock between the attempt to take it
	// and the record of the request. It checks for a request after the release,
	// and this call tries the lock again after the record: one of the two finds
	// the other.
	again, err := g.cancel(ctx, performers, at, c)
	if err != nil {
		return out, nil // the request is recorded; a failed second attempt does not undo it
	}
	again.Already = out.Already && again.Already
	return again, nil
}

// checkCancel reads the run without a lock and refuses what Cancel would refuse
// under it.
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

// cancel appends what is missing: the request, and the end of the run when no
// performer holds it. The performer's lock is held until the events are
// committed.
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

// Close ends a run whose cancellation was requested. A performer calls it after
// it has stopped. A run that is closed already is left as it is.
func (g *Engine) Close(ctx context.Context, by Caller, at Position) (Cancelled, error) {
	defer g.writePendingAudit(ctx)
	return g.appendEnding(ctx, at,
		func(p resolvedPosition) (manifest.Plan, error) { return advance.Close(endingOf(at, p), by.AtMs) })
}

// appendEnding appends the events that plan returns under the session's lock,
// and returns the resulting state of the run. An empty plan sets Already.
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
	out.RunID, out.SessionID, out.Status = at.Run, at.Session, runs.Cancelling
	switch r := p.run; {
	case r.Closed != nil:
		out.Reason, out.Status = r.Closed.Reason, r.StatusAt(r.Tip, runs.TipState{})
	case r.CancelRequested != nil:
		out.Reason = r.CancelRequested.Reason
	}
	if out.Already {
		// Another process wrote the events that this answer reports: make them
		// durable first.
		if err := g.confirm(ctx, at.Session, fold); err != nil {
			return out, err
		}
	}
	g.putFold(at.Session, fold)
	return out, nil
}

// notComplete refuses with VALIDATION_ERROR to cancel a run that is complete at
// its preferred tip. A run that is closed or being cancelled passes:
// advance.Cancel decides about it.
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
	return fault.New(fault.ValidationError, "run %s is complete and cannot be cancelled", p.run.ID).
		Suggest("See 'waybill runs show %s'.", p.run.ID).With("runId", p.run.ID.String())
}

// endingOf collects what advance.Cancel and advance.Close need to know about a
// run.
func endingOf(at Position, p resolvedPosition) advance.EndFacts {
	return advance.EndFacts{Session: at.Session, Run: at.Run, Next: p.fold.Next, Requested: p.run.CancelRequested,
		Closed: p.run.Closed}
}

// openRun is openPosition for use cases that concern a run as a whole: the
// returned position has no node. Errors: SESSION_UNHEALTHY, RUN_NOT_FOUND.
func (g *Engine) openRun(ctx context.Context, at Position, f *runs.Fold) (resolvedPosition, error) {
	v, err := g.readFromSaved(ctx, at.Session, f)
	if err != nil {
		return resolvedPosition{}, err
	}
	if v.Health != manifest.Healthy {
		return resolvedPosition{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	}
	return findRun(f, at)
}

// findRun looks a run up in a fold. A fold always contains every run, but one
// that skipped an event may have an outdated state of it, which is
// errFoldIncomplete.
func findRun(f *runs.Fold, at Position) (resolvedPosition, error) {
	p := resolvedPosition{fold: f, run: f.Runs[at.Run]}
	switch {
	case f.Missed():
		return p, errFoldIncomplete
	case p.run == nil:
		return p, fault.New(fault.RunNotFound, "session %s holds no run %s", at.Session, at.Run)
	}
	return p, nil
}
