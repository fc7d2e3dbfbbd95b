package engine

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// pinBook holds what groups pin against what the inspection of the store hashed at the
// same time: no file is read twice, and neither waits for the other.
type pinIndex struct {
	mu   sync.Mutex
	seen projections.Fingerprints
	pins map[id.Session][][sha256.Size]byte
}

func (b *pinIndex) setPins(s id.Session, pins [][sha256.Size]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pins[s] = pins
}

func (b *pinIndex) addSeen(kind manifest.ObjectKind, ref canon.Digest) {
	if kind != manifest.Snapshot {
		return // of other objects a log that is not decoded says nothing
	}
	f := projections.ObjectRef{Kind: kind, Ref: ref}.Fingerprint()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen.Add(f)
}

// inspectBeside begins the inspection of the store now; what it returns waits for it.
func (w *verifier) startInspection(ctx context.Context) func() ([]manifest.Finding, error) {
	w.pins = &pinIndex{pins: map[id.Session][][sha256.Size]byte{}}
	var found []manifest.Finding
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err = w.g.Digests.InspectSeeing(ctx, w.pins.addSeen)
	}()
	return func() ([]manifest.Finding, error) { <-done; return found, err }
}

// unseen are findings about snapshots that a session pins and the inspection did not
// find sound: it may be that they came while it went on.
func (w *verifier) unseenPins(ctx context.Context, s id.Session) (out []manifest.Finding) {
	if w.pins == nil {
		return nil
	}
	for _, raw := range w.pins.pins[s] {
		ref := projections.ObjectRef{Kind: manifest.Snapshot, Ref: canon.DigestOf(raw)}
		if w.pins.seen.Has(ref.Fingerprint()) {
			continue
		}
		if v := w.objects.verdict(ref, func() objectVerdict { return w.g.checkDigest(ctx, ref) }); v.finding != nil {
			out = append(out, *v.finding)
		}
	}
	return out
}
