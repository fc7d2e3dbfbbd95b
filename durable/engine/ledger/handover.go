package ledger

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// IsHandedOver reports that the last event of a session hands it over from this store (docs/design.md#home). A hand-over
// that came with a bundle has no effect here: any program can write one.
func (l *Ledger) IsHandedOver(ctx context.Context, s id.Session, f *runs.Fold) (bool, error) {
	if f.HandedOver == nil {
		return false, nil
	}
	store, err := l.StoreID(ctx)
	if err != nil || store != f.HandedOver.FromStoreID {
		return false, err
	}
	came, err := l.ImportedOf(ctx, s)
	return err == nil && !came.Has(f.Next-1), err
}

// RefuseHandedOver returns SESSION_HANDED_OVER for a session that this store handed over and that did not come home: it
// takes no steps here; and RUN_CLOSED for a session that replays another one, and takes the steps of that alone.
func (l *Ledger) RefuseHandedOver(ctx context.Context, s id.Session, f *runs.Fold) error {
	for _, run := range f.Order {
		if from := f.Runs[run].Started.ForkedFrom; from.IsReplay() {
			return fault.New(fault.RunClosed, "run %s replays run %s: it takes no steps of its own", run, from.RunID).
				Suggest("Fork the run that it replays with %s.", fault.Command{"fork", from.RunID.String()}).
				With("runId", run.String()).With("sourceRunId", from.RunID.String())
		}
	}
	is, err := l.IsHandedOver(ctx, s, f)
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
		out = out.Suggest("Import the bundle that comes home, or revoke the hand-over with %s.",
			fault.Command{"runs", "take-back", f.Order[0].String()})
	}
	return out
}
