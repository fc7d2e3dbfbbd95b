package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// MayAppend returns SESSION_HANDED_OVER for a session that this store handed over and that did not come home: it takes no
// steps here (docs/design.md#home).
func (e *Engine) MayAppend(ctx context.Context, s id.Session) error {
	h := e.TakeHistory(s)
	if _, err := h.ReadSaved(ctx); err != nil {
		return err
	}
	h.Keep()
	return e.notHandedOver(ctx, s, h.Fold)
}

// IsHandedOver reports that the last event of a session hands it over from this store. A hand-over that came with a bundle
// binds nobody here: any program can write one.
func (e *Engine) IsHandedOver(ctx context.Context, s id.Session, f *runs.Fold) (bool, error) {
	if f.HandedOver == nil {
		return false, nil
	}
	store, err := e.ledger.StoreID(ctx)
	if err != nil || store != f.HandedOver.FromStoreID {
		return false, err
	}
	came, err := e.ledger.ImportedOf(ctx, s)
	return err == nil && !came.Has(f.Next-1), err
}

// notHandedOver is MayAppend for a history that was read.
func (e *Engine) notHandedOver(ctx context.Context, s id.Session, f *runs.Fold) error {
	is, err := e.IsHandedOver(ctx, s, f)
	if err != nil || !is {
		return err
	}
	to := ""
	if f.HandedOver.To != "" {
		to = " to " + f.HandedOver.To
	}
	out := fault.New(fault.SessionHandedOver, "session %s was handed over%s: it takes no steps here", s, to).
		With("sessionId", s.String())
	if len(f.Order) > 0 {
		out = out.Suggest("Import the bundle that comes home, or take the session back with %s.",
			fault.Command{"runs", "take-back", f.Order[0].String()})
	}
	return out
}
