package hosting

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/session"
	enginewire "github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/projections/runs"
)

// Pausing pauses and resumes runs for clients of the protocol (docs/design.md#pauses). Unlike the commands it refuses what
// would change nothing, and the pause of a run that waits for a person: that would hide what it waits for.
type Pausing struct {
	runs   Runs
	w      *enginewire.Wire
	pauses pausing.Pauses
}

// NewPausing returns the pauses of the runs of a store.
func NewPausing(r Runs, w *enginewire.Wire, p pausing.Pauses) Pausing { return Pausing{r, w, p} }

// Pause pauses a run that is performed. Without a policy it drains the current node. Errors: RUN_PAUSED, RUN_WAITING and
// RUN_CLOSED with the status of the run, RUN_NOT_FOUND, VALIDATION_ERROR for another policy.
func (p Pausing) Pause(ctx context.Context, by engine.Caller, run string, in openwop.PauseRun) (out openwop.RunPause, err error) {
	req := pausing.Request{Reason: in.Reason}
	switch in.DrainPolicy {
	case openwop.DrainCurrentNode, "":
		req.Drain = true
	case openwop.Immediate:
	default:
		return out, fault.New(fault.ValidationError, "drainPolicy is neither %s nor %s", openwop.Immediate,
			openwop.DrainCurrentNode).With("pointer", "/drainPolicy")
	}
	at, status, err := p.find(ctx, run)
	switch {
	case err != nil:
		return out, err
	case status != openwop.Running && status != openwop.Pending:
		return out, p.refuse(ctx, at, status)
	}
	state, err := p.pauses.Pause(ctx, by, at, req)
	if err != nil || state.Already {
		return out, p.changed(ctx, at, run, err)
	}
	out = openwop.RunPause{RunID: run, Status: openwop.Paused, PausedAt: event.TimeText(state.Paused.SinceMs)}
	if state.Paused.Drain {
		out = openwop.RunPause{RunID: run, Status: openwop.Running}
	}
	return out, nil
}

// Resume ends the pause of a run, or withdraws one that waits for the current node. Errors: RUN_CLOSED and RUN_WAITING with the
// status of a run that is not paused, RUN_NOT_FOUND.
func (p Pausing) Resume(ctx context.Context, by engine.Caller, run, reason string) (out openwop.RunState, err error) {
	at, _, err := p.find(ctx, run)
	if err != nil {
		return out, err
	}
	state, err := p.pauses.Resume(ctx, by, at, pausing.Request{Reason: reason})
	if err != nil || state.Already {
		return out, p.changed(ctx, at, run, err)
	}
	s, _, err := p.w.Snapshot(ctx, run)
	return openwop.RunState{RunID: run, Status: s.Status}, err
}

// find returns the position and the status of a run.
func (p Pausing) find(ctx context.Context, run string) (at engine.Position, status openwop.Status, err error) {
	if at, err = p.runs.Find(ctx, run); err != nil {
		return at, "", err
	}
	s, _, err := p.w.Snapshot(ctx, run)
	return at, s.Status, err
}

// changed is the refusal of a call that recorded nothing: with the status that the run has now, if that is the reason.
func (p Pausing) changed(ctx context.Context, at engine.Position, run string, cause error) error {
	if cause != nil && !fault.Is(cause, fault.RunClosed) && !fault.Is(cause, fault.ValidationError) {
		return cause
	}
	_, status, err := p.find(ctx, run)
	if err != nil || cause != nil && !status.Terminal() && status != openwop.Cancelling {
		return cause
	}
	return p.refuse(ctx, at, status)
}

// refuse is the refusal of a call that does not fit the status of a run.
func (p Pausing) refuse(ctx context.Context, at engine.Position, status openwop.Status) error {
	code := fault.RunWaiting
	switch {
	case status == openwop.Paused:
		code = fault.RunPaused
	case status.Terminal(), status == openwop.Cancelling:
		code = fault.RunClosed
	}
	why := "only a run that is performed is paused, and only a paused one is resumed"
	if status == openwop.Running {
		why = "a pause of it takes effect after the current step already, or it has none that could end"
	}
	f := fault.New(code, "the run is %s: %s", status, why).
		With("runId", at.Run.String()).With("runStatus", string(status))
	if status != openwop.Paused {
		return f
	}
	h := p.runs.e.NewHistory(at.Session)
	found, err := h.OpenRun(ctx, at)
	if pause := pausedOf(found.Run); err == nil && pause != nil {
		return f.With("pausedAt", event.TimeText(pause.SinceMs))
	}
	return f
}

// pausedOf is session.PausedOf, nil for no run.
func pausedOf(r *runs.Run) *session.PausedRun {
	if r == nil {
		return nil
	}
	return session.PausedOf(r)
}
