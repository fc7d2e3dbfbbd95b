package verify

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// pinIndex compares the snapshots that groups pin with those that the
// inspection of the store hashes at the same time. No file is read twice, and
// neither side waits for the other.
type pinIndex struct {
	mu   sync.Mutex
	seen runs.Fingerprints
	pins map[id.Session][][sha256.Size]byte
}

// setPins records the snapshots that a session's groups pin.
func (b *pinIndex) setPins(s id.Session, pins [][sha256.Size]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pins[s] = pins
}

// addSeen records a snapshot that the inspection found valid.
func (b *pinIndex) addSeen(kind manifest.ObjectKind, ref canon.Digest) {
	if kind != manifest.Snapshot {
		return // groups pin snapshots only
	}
	f := runs.ObjectRef{Kind: kind, Ref: ref}.Fingerprint()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen.Add(f)
}

// startInspection starts the inspection of the store in a goroutine and returns
// a function that waits for its result.
func (w *storeCheck) startInspection(ctx context.Context) func() ([]manifest.Finding, error) {
	w.pins = &pinIndex{pins: map[id.Session][][sha256.Size]byte{}}
	var found []manifest.Finding
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err = w.store.InspectWithObjects(ctx, w.pins.addSeen)
	}()
	return func() ([]manifest.Finding, error) { <-done; return found, err }
}

// confirmPins verifies again the sessions that pin snapshots which the inspection did not find valid. Some may have been
// stored while the inspection ran, or removed with the session.
func (w *storeCheck) confirmPins(ctx context.Context, all []id.Session, rows []*SessionVerdict, errs []error) error {
	if w.pins == nil {
		return nil
	}
	for i, s := range all {
		if rows[i] == nil || errs[i] != nil || !slices.ContainsFunc(w.pins.pins[s], w.isUnseen) {
			continue
		}
		if rows[i], errs[i] = w.confirmed(ctx, s); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// isUnseen reports a snapshot that the inspection did not find valid.
func (w *storeCheck) isUnseen(pin [sha256.Size]byte) bool {
	ref := runs.ObjectRef{Kind: manifest.Snapshot, Ref: canon.DigestOf(pin)}
	return !w.pins.seen.Has(ref.Fingerprint())
}
