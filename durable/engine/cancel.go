package engine

import (
	"context"

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
	// Redactions are the places of the request from which a secret was removed.
	Redactions []redact.Finding `json:"redactions,omitzero"`
}

// Cancel ends the run of a position; the position's node is ignored
// (docs/design.md#ends-and-branches). A run that no process performs is closed
// at once. Otherwise a request is recorded, and the performer closes the run
// after it has stopped. Repeated calls return what is recorded.
//
// Errors: RUN_CLOSED if the run ended with another outcome, VALIDATION_ERROR if
// it is complete or the reason is not valid UTF-8, RUN_NOT_FOUND,
// SESSION_UNHEALTHY.
func (e *Engine) Cancel(ctx context.Context, by Caller, performers ports.Performers, at Position,
	req CancelRequest) (Cancelled, error) {
	defer e.ledger.WritePending(ctx)
	c := advance.Cancellation{Reason: req.Reason, Outcome: event.OutcomeCancelled, Actor: by.Actor, AtMs: by.AtMs}
	if req.Failed {
		c.Outcome = event.OutcomeFailed
	}
	// Checked first without a lock, so that a refused request creates no lock
	// file.
	if err := e.checkCancel(ctx, at, c); err != nil {
		return Cancelled{}, err
	}
	var found redact.Findings
	c.Reason = advance.StoredText(&found, "/reason", c.Reason, limits.SummaryBytesMax)
	out, err := e.cancel(ctx, performers, at, c)
	out.Redactions = found.List()
	if err != nil || out.Status != runs.Cancelling {
		return out, err
	}
	// The performer may have released its lock between the attempt to take it
	// and the record of the request. It checks for a request after the release,
	// and this call tries the lock again after the record: one of the two finds
	// the other.
	again, err := e.cancel(ctx, performers, at, c)
	if err != nil {
		return out, nil // the request is recorded; a failed second attempt does not undo it
	}
	again.Already = out.Already && again.Already
	again.Redactions = out.Redactions
	return again, nil
}

// checkCancel reads the run without a lock and refuses what Cancel would refuse
// under it.
func (e *Engine) checkCancel(ctx context.Context, at Position, c advance.Cancellation) error {
	h := e.TakeHistory(at.Session)
	p, err := h.OpenRun(ctx, at)
	if err != nil {
		return err
	}
	h.Keep()
	if err := e.notComplete(ctx, p); err != nil {
		return err
	}
	_, err = advance.Cancel(EndingOf(p), c)
	return err
}

// cancel appends what is missing: the request, and the end of the run when no
// performer holds it. The performer's lock is held until the events are
// committed.
func (e *Engine) cancel(ctx context.Context, performers ports.Performers, at Position,
	c advance.Cancellation) (Cancelled, error) {
	lease, err := performers.Hold(ctx, at.Session)
	switch {
	case err == nil:
		c.Close = true
		defer func() { _ = lease.Release() }()
	case !fault.Is(err, fault.RunBusy):
		return Cancelled{}, err
	}
	return e.appendEnding(ctx, at, lease.Token, func(p session.Resolved) (manifest.Plan, error) {
		if err := e.notComplete(ctx, p); err != nil {
			return manifest.Plan{}, err
		}
		return advance.Cancel(EndingOf(p), c)
	})
}

// Close ends a run whose cancellation was requested. A performer calls it after
// it has stopped. A run that is closed already is left as it is.
func (e *Engine) Close(ctx context.Context, by Caller, at Position) (Cancelled, error) {
	defer e.ledger.WritePending(ctx)
	return e.appendEnding(ctx, at, 0,
		func(p session.Resolved) (manifest.Plan, error) { return advance.Close(EndingOf(p), by.AtMs) })
}

// appendEnding appends the events that plan returns under the session's lock, and under a lease if the caller performs
// the session, and returns the resulting state of the run. An empty plan sets Already.
func (e *Engine) appendEnding(ctx context.Context, at Position, lease int64,
	plan func(session.Resolved) (manifest.Plan, error)) (out Cancelled, err error) {
	h := e.TakeHistory(at.Session)
	appended, err := e.commit(ctx, h, func(manifest.Verdict) (manifest.Plan, error) {
		p, err := session.FindRun(h.Fold, at)
		if err != nil {
			return manifest.Plan{}, err
		}
		planned, err := plan(p)
		planned.Lease = lease
		return planned, err
	})
	out.Already = !appended
	if err != nil {
		return out, err
	}
	p, err := session.FindRun(h.Fold, at)
	if err != nil {
		return out, err
	}
	out.RunID, out.SessionID, out.Status = at.Run, at.Session, runs.Cancelling
	switch r := p.Run; {
	case r.Closed != nil:
		out.Reason, out.Status = r.Closed.Reason, r.StatusAt(r.Tip, runs.TipState{})
	case r.CancelRequested != nil:
		out.Reason = r.CancelRequested.Reason
	}
	if out.Already {
		// Another process wrote the events that this answer reports: make them
		// durable first.
		if err := h.Confirm(ctx); err != nil {
			return out, err
		}
	}
	h.Keep()
	return out, nil
}

// notComplete refuses with VALIDATION_ERROR to cancel a run that is complete at
// its preferred tip. A run that is closed or being cancelled passes:
// advance.Cancel decides about it.
func (n *Answers) notComplete(ctx context.Context, p session.Resolved) error {
	if p.Run.Closed != nil || p.Run.CancelRequested != nil {
		return nil
	}
	tip := p.Run.Node(p.Run.Tip)
	if tip == nil {
		return fault.New(fault.Invariant, "run %s has no tip", p.Run.ID)
	}
	state, err := n.State(ctx, tip)
	if err != nil || !state.IsComplete() {
		return err
	}
	return fault.New(fault.ValidationError, "run %s is complete and cannot be cancelled", p.Run.ID).
		Suggest("See %s.", fault.Command{"runs", "show", p.Run.ID.String()}).With("runId", p.Run.ID.String())
}

// EndingOf collects what advance.Cancel and advance.Close need to know about a
// run.
func EndingOf(p session.Resolved) advance.EndFacts {
	return advance.EndFacts{Session: p.At.Session, Run: p.At.Run, Next: p.Fold.Next, Requested: p.Run.CancelRequested,
		Closed: p.Run.Closed}
}
