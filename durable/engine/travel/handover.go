package travel

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// HandedOver is what a hand-over, or its end, recorded about a session.
type HandedOver struct {
	SessionID id.Session `json:"sessionId"`
	To        string     `json:"to,omitzero"`
	// Already reports that it was recorded before; nothing was appended.
	Already bool `json:"already"`
	// Redactions are the secrets that were removed from the name.
	Redactions []redact.Finding `json:"redactions,omitzero"`
}

// HandOver records that a session continues elsewhere: from then on it takes no steps in this store
// (docs/design.md#home). to is a name, or "". A session that is handed over already is left as it is. Errors: RUN_CLOSED
// if all of its runs have ended; RUN_BUSY and SESSION_LOCKED if it is in use; VALIDATION_ERROR for a name that is too
// long, or another one than that of the hand-over in force.
func (x *Exchange) HandOver(ctx context.Context, by engine.Caller, ref, to string) (out HandedOver, err error) {
	if len(to) > limits.ActorRefMax {
		return out, fault.New(fault.ValidationError, "the name has %d bytes, and the limit is %d", len(to), limits.ActorRefMax)
	}
	var found redact.Findings
	to = advance.StoredText(&found, "/to", to, limits.ActorRefMax)
	out.To, out.Redactions = to, found.List()
	out.SessionID, err = x.changeHandOver(ctx, ref, func(ctx context.Context, h *session.History, is bool) (manifest.Plan, error) {
		if is {
			if have := h.Fold.HandedOver.To; to != "" && to != have {
				return manifest.Plan{}, fault.New(fault.ValidationError, "the session was handed over to %q before", have).
					Suggest("Revoke the hand-over first with %s.", fault.Command{"runs", "take-back", h.Fold.Order[0].String()})
			}
			out.To, out.Already = h.Fold.HandedOver.To, true
			return manifest.Plan{}, nil
		}
		if err := x.notEnded(ctx, h); err != nil {
			return manifest.Plan{}, err
		}
		store, err := x.store.StoreID(ctx, ports.ReadOnly)
		return handOver(h, by, h.Fold.HandOvers+1).To(store, to), err
	})
	return out, err
}

// Reclaim revokes the hand-over of a session, which then continues in this store. VALIDATION_ERROR if no hand-over is in
// force.
func (x *Exchange) Reclaim(ctx context.Context, by engine.Caller, ref string) (out HandedOver, err error) {
	out.SessionID, err = x.changeHandOver(ctx, ref, func(_ context.Context, h *session.History, is bool) (manifest.Plan, error) {
		if !is {
			return manifest.Plan{}, fault.New(fault.ValidationError, "the session is not handed over; nothing was changed")
		}
		out.To = h.Fold.HandedOver.To
		return handOver(h, by, h.Fold.HandOvers).Reclaim(), nil
	})
	return out, err
}

// handOver is the n-th hand-over of a session, or its end.
func handOver(h *session.History, by engine.Caller, n int64) advance.HandOver {
	return advance.HandOver{Session: h.Session, Next: h.Fold.Next, N: n, Actor: by.Actor, AtMs: by.AtMs}
}

// changeHandOver appends the plan for a session under its lock and the performer's. is reports that a hand-over is in
// force.
func (x *Exchange) changeHandOver(ctx context.Context, ref string,
	plan func(context.Context, *session.History, bool) (manifest.Plan, error)) (s id.Session, err error) {
	if s, err = x.e.ResolveSession(ctx, ref); err != nil {
		return s, err
	}
	h := x.e.NewHistory(s)
	err = ports.WithHealthySession(ctx, x.store, x.store, h.Log, manifest.Head{}, h.Visitor(),
		func(w ports.Witness, v manifest.Verdict) error {
			return ports.WithHold(ctx, x.store.Performers(), s, func(hold ports.Hold) error {
				is, err := x.ledger.IsHandedOver(ctx, s, h.Fold)
				if err != nil {
					return err
				}
				planned, err := plan(ctx, h, is)
				if err != nil || len(planned.Events) == 0 {
					return err
				}
				planned.Lease = hold.Token()
				head, err := x.store.Append(ctx, w, v.Head, planned)
				if err == nil {
					x.e.NoteDurable(planned.Log, head, true)
				}
				return err
			})
		})
	return s, err
}

// notEnded returns RUN_CLOSED if every run of a session has ended.
func (x *Exchange) notEnded(ctx context.Context, h *session.History) error {
	for _, run := range h.Fold.Runs {
		if run.Closed != nil {
			continue
		}
		tip := run.Node(run.Tip)
		if tip == nil {
			continue
		}
		state, err := x.e.State(ctx, tip)
		if err != nil {
			return err
		}
		if !state.IsComplete() {
			return nil
		}
	}
	return fault.New(fault.RunClosed, "all runs of session %s have ended; it is not handed over", h.Session).
		Suggest("Export it without --hand-over.")
}
