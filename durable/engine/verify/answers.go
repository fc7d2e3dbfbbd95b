package verify

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// answers verifies the log of answers to requests with an idempotency key: that the ids of its events follow from their keys,
// and that each record has the index that it states.
func (w *storeCheck) answers(ctx context.Context, store id.Store) ([]manifest.Finding, error) {
	log := idempotency.LogOf(store)
	var found []manifest.Finding
	v, err := w.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		found = nil
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				if f, wrong := checkAnswer(log, e); wrong {
					found = append(found, f)
				}
			}
			return nil
		})
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return unreadableLog(log, err)
	}
	return append(v.Findings, found...), nil
}

// checkAnswer verifies one event of the log of answers. Events of other programs are not checked.
func checkAnswer(log manifest.Log, e event.Event) (f manifest.Finding, wrong bool) {
	r, ok := e.Data.(idempotency.ResponseRecorded)
	switch {
	case !ok || e.Foreign():
		return f, false
	case e.ID != id.EventOf(e.Owner, e.DedupeKey()):
		f = manifest.NewFinding(manifest.EventIDMismatch, log.Root,
			"event %d (%s): its eventId %s does not follow from its dedupeKey", e.Index, r.Kind(), e.ID)
	case r.Ordinal != e.Index:
		f = manifest.NewFinding(manifest.BrokenReference, log.Root, "event %d has the ordinal %d", e.Index, r.Ordinal)
	default:
		return f, false
	}
	return f.AtEvent(e.Index), true
}
