package engine

import (
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// PendingHost is a pending step that the HTTP host performs (docs/design.md#host-steps).
type PendingHost struct {
	TypeID string `json:"typeId"`
	// UntilMs is the moment until which a delay lasts, in milliseconds since 1970 UTC.
	UntilMs int64 `json:"untilMs,omitzero"`
	// SinceMs is when the step became pending.
	SinceMs int64 `json:"-"`
	// Error is why the step failed: the host still has to end the run.
	Error     *host.Error      `json:"error,omitzero"`
	ExpiresMs int64            `json:"-"` // when a gate fails without an answer; 0: never
	Responses []event.Response `json:"-"` // the answers that a gate got
}

// HostAt returns the host step that is pending at a node, without its error; nil for a step of others.
func HostAt(w compile.Compiled, s snapshot.State, n *runs.Node) *PendingHost {
	h, ok := advance.HostedAt(w, s, n.CreatedAtMs, n.Context)
	if !ok {
		return nil
	}
	return &PendingHost{TypeID: h.TypeID, UntilMs: h.DueMs, SinceMs: n.CreatedAtMs, ExpiresMs: h.ExpiresMs}
}

// hostAt is HostAt with the error of a step that failed.
func (n *Answers) hostAt(ctx context.Context, w compile.Compiled, s snapshot.State, at *runs.Node) (*PendingHost, error) {
	out := HostAt(w, s, at)
	if out == nil {
		return out, nil
	}
	result, err := n.HostResult(ctx, at)
	out.Error, out.Responses = result.Error, result.Responses
	return out, err
}

// Fail ends a run as failed, in one append. The performer calls it under its hold of the session, after
// the failure of a host step is recorded (docs/design.md#host-steps). A run that is ended, or whose end
// is requested, is closed as its first request says. reason is cut to limits.SummaryBytesMax by the
// caller. Errors: ports.ErrHold without a live hold of the session, RUN_BUSY if its
// lease is lost, and those of Cancel.
func (e *Engine) Fail(ctx context.Context, hold ports.Hold, by Caller, at Position, reason string) (Cancelled, error) {
	leave, err := hold.Enter(at.Session)
	if err != nil {
		return Cancelled{}, err
	}
	defer leave()
	defer e.ledger.WritePending(ctx)
	return e.appendEnding(ctx, at, hold.Token(), func(p session.Resolved) (manifest.Plan, error) {
		if err := e.notComplete(ctx, p); err != nil {
			return manifest.Plan{}, err
		}
		c := advance.Cancellation{Reason: reason, Outcome: event.OutcomeFailed, Close: true, Actor: by.Actor, AtMs: by.AtMs}
		if p.Run.CancelRequested != nil || p.Run.Closed != nil {
			return advance.Close(EndingOf(p), by.AtMs)
		}
		return advance.Cancel(EndingOf(p), c)
	})
}
