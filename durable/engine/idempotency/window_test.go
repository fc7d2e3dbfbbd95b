package idempotency

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
)

var owner = id.NewStore(id.Seed{1})

// headAt is a head after so many segments.
func headAt(n int64) manifest.Head {
	if n == 0 {
		return manifest.Head{}
	}
	return manifest.Head{Digest: canon.Sum(fmt.Append(nil, n)), Next: n, NextRecord: n}
}

// add folds a segment with the record of a key.
func (w *window) add(key string, atMs int64) {
	n := w.head.Next
	r, _ := idempotency.New(key, "POST /x", canon.Sum([]byte(key)), 201, canon.Value{}, atMs, n)
	e := event.New(owner.String(), n, event.Scope{}, event.Actor{Kind: event.Engine}, atMs, r)
	_ = w.Visit(manifest.Segment{Events: []event.Event{e}}, headAt(n+1))
}

func (w *window) has(key string, nowMs int64) bool {
	_, ok := w.find(idempotency.KeyDigest(key, "POST /x"), nowMs)
	return ok
}

// TestOldestKeysAreForgotten: the number of keys that are found is bounded, and the newest are.
func TestOldestKeysAreForgotten(t *testing.T) {
	w := newWindow()
	for i := range limits.IdempotencyKeysMax + 10 {
		w.add(fmt.Sprint("k", i), 1)
	}
	for key, want := range map[string]bool{"k9": false, "k10": true, "k1000": true, fmt.Sprint("k", limits.IdempotencyKeysMax+9): true} {
		if w.has(key, 1) != want {
			t.Errorf("%s is found: %v", key, !want)
		}
	}
	if len(w.entries) != limits.IdempotencyKeysMax || len(w.order) != len(w.entries) {
		t.Errorf("%d entries, %d in order", len(w.entries), len(w.order))
	}
}

// TestWindowFromItsPlace: a window that begins at the place which another one saved finds the same keys, for any records in
// any order of times.
func TestWindowFromItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type step struct {
			key string
			at  int64
		}
		var all []step
		whole := newWindow()
		starts := []int64{0}
		now := int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "records") {
			now += rapid.Int64Range(0, limits.IdempotencyWindowMs/4).Draw(t, "later")
			s := step{fmt.Sprint("k", rapid.IntRange(0, 6).Draw(t, "key")), now - rapid.Int64Range(0, 1000).Draw(t, "skew")}
			all = append(all, s)
			whole.add(s.key, s.at)
			if rapid.Bool().Draw(t, "save") {
				starts = append(starts, whole.expire(now).Next)
			}
		}
		for _, from := range starts {
			w := newWindow()
			w.head = headAt(from)
			for _, s := range all[from:] {
				w.add(s.key, s.at)
			}
			for i := range 7 {
				key := fmt.Sprint("k", i)
				a, inWhole := whole.find(idempotency.KeyDigest(key, "POST /x"), now)
				b, inPart := w.find(idempotency.KeyDigest(key, "POST /x"), now)
				if inWhole != inPart || inWhole && !reflect.DeepEqual(a, b) {
					t.Fatalf("%s from %d: %+v %v, %+v %v", key, from, a, inWhole, b, inPart)
				}
			}
		}
	})
}
