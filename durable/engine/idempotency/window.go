package idempotency

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
)

// digest is the bytes of a digest, which take less memory than its text.
type digest = [sha256.Size]byte

// entry is where an answer is recorded.
type entry struct {
	body   digest
	atMs   int64
	before manifest.Head // of the log before the segment with the record
	index  int64         // of the event
}

// window is a fold of the log: the newest records of keys, without their answers. It forgets records that are too old, or too
// many, from the front.
type window struct {
	head    manifest.Head
	entries map[digest]entry
	// order has the keys of all records that are not forgotten, oldest first; a key of several records occurs several times.
	order []digest
	at    []manifest.Head // in parallel: the head before the record
}

func newWindow() *window { return &window{entries: map[digest]entry{}} }

// Visit implements ports.Visitor.
func (w *window) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		r, ok := e.Data.(idempotency.ResponseRecorded)
		if !ok || e.Foreign() {
			continue
		}
		key := r.KeyDigest.Raw()
		w.entries[key] = entry{body: r.BodyDigest.Raw(), atMs: r.AtMs, before: w.head, index: e.Index}
		w.order, w.at = append(w.order, key), append(w.at, w.head)
		if len(w.order) > limits.IdempotencyKeysMax {
			w.forget()
		}
	}
	w.head = head
	return nil
}

// find returns the record that answers a request with a key at a time.
func (w *window) find(key canon.Digest, nowMs int64) (entry, bool) {
	e, ok := w.entries[key.Raw()]
	return e, ok && !idempotency.IsExpired(e.atMs, nowMs)
}

// expire forgets the records that are too old, and returns the head from which the others can be read again.
func (w *window) expire(nowMs int64) (start manifest.Head) {
	for len(w.order) > 0 && w.isExpired(0, nowMs) {
		w.forget()
	}
	if len(w.order) == 0 {
		return w.head
	}
	return w.at[0]
}

// isExpired reports that a record is too old, or that its key has a newer one.
func (w *window) isExpired(i int, nowMs int64) bool {
	e := w.entries[w.order[i]]
	return e.before != w.at[i] || idempotency.IsExpired(e.atMs, nowMs)
}

// forget removes the oldest record.
func (w *window) forget() {
	if w.entries[w.order[0]].before == w.at[0] {
		delete(w.entries, w.order[0])
	}
	w.order, w.at = w.order[1:], w.at[1:]
}
