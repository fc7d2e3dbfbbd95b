package ledger

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// confirmedReading is the last reading of FollowConfirmed: what was confirmed up to a head of the audit log.
type confirmedReading struct {
	mu    sync.Mutex
	store id.Store
	confirmedFold
}

// confirmedFold folds what the audit log states that a person confirmed.
type confirmedFold struct {
	head manifest.Head
	auditview.Confirmed
}

// Visit implements ports.Visitor.
func (f *confirmedFold) Visit(seg manifest.Segment, head manifest.Head) error {
	f.head = head
	f.VisitConfirmed(seg)
	return nil
}

// ConfirmedAfresh is Confirmed from the audit log itself, which is read whole: for consents that have to be
// signed. The saved ledger is sealed with a key that each program of the account can read.
func (l *Ledger) ConfirmedAfresh(ctx context.Context) (auditview.Confirmed, error) {
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return auditview.Confirmed{}, err
	}
	log, fold := audit.LogOf(store), &confirmedFold{}
	v, err := l.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		fold = &confirmedFold{}
		return fold
	})
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(log, v))
	}
	return fold.Confirmed, err
}

// FollowConfirmed is Confirmed for a caller that asks again and again, such as for each request of a server. It continues
// from the head of the last call of this process, so that its cost is what was appended since; the reading proves that the
// log still has that head, and begins again where it has another history. SESSION_UNHEALTHY if the audit log is damaged.
func (l *Ledger) FollowConfirmed(ctx context.Context) (auditview.Confirmed, error) {
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return auditview.Confirmed{}, err
	}
	r := &l.confirmed
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store != store { // the first call reads the log whole, as ConfirmedAfresh does
		r.store, r.confirmedFold = store, confirmedFold{}
	}
	log := audit.LogOf(store)
	fold := r.confirmedFold // kept only if the reading succeeds
	v, err := ports.Continue(ctx, l.store, ports.ReadRequest{Log: log, From: fold.head},
		func(from manifest.Head) ports.Visitor {
			if from.IsZero() {
				fold = confirmedFold{}
			}
			return &fold
		})
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(log, v))
	}
	if err != nil {
		return auditview.Confirmed{}, err
	}
	r.confirmedFold = fold
	return fold.Confirmed, nil
}

// errLater ends a reading at the first line after a moment.
var errLater = errors.New("later")

// ConfirmedAt returns what a person had confirmed at a moment, in milliseconds since 1970 UTC, by the times of the
// lines of the audit log: for showing it, since nothing is decided by clocks. SESSION_UNHEALTHY if the log is damaged
// before that moment.
func (l *Ledger) ConfirmedAt(ctx context.Context, atMs int64) (auditview.Confirmed, error) {
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return auditview.Confirmed{}, err
	}
	log := audit.LogOf(store)
	var fold auditview.Confirmed
	v, err := l.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
		for _, e := range seg.Events {
			if e.TimestampMs > atMs {
				return errLater
			}
		}
		fold.VisitConfirmed(seg)
		return nil
	}))
	if errors.Is(err, errLater) {
		return fold, nil
	}
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(log, v))
	}
	return fold, err
}
