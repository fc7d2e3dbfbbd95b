package suite

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

func rotation(t *testing.T, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	from := func(k *token.Key) ports.Rotation {
		return ports.Rotation{By: event.Actor{Kind: event.Human}, AtMs: 1_760_000_000_000, From: k}
	}
	if _, err := s.Rotate(ctx, from(nil)); !fault.Is(err, fault.TargetNotFound) {
		t.Errorf("in a store that is not there: %v; want TARGET_NOT_FOUND", err)
	}
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("a rotation made the store %q, %v", got, err)
	}
	_, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	if _, err := s.Rotate(ctx, from(&token.Key{1})); !fault.Is(err, fault.StoreConflict) {
		t.Errorf("from a key that is not there: %v; want STORE_CONFLICT", err)
	}
	first, err := s.Rotate(ctx, from(nil))
	must(t, err)
	if first.Keys.Previous != nil || first.Folder != "" {
		t.Errorf("a first keyring: %+v", first)
	}
	have := first.Keys
	for range 3 {
		next, err := open(0).Rotate(ctx, from(&have.Current))
		must(t, err)
		if next.Keys.Previous == nil || *next.Keys.Previous != have.Current || next.Keys.Current == have.Current {
			t.Error("the current key is not the previous one now, or the same is current")
		}
		if again, err := open(0).Keys(ctx, ports.ReadOnly); err != nil || again.Current != next.Keys.Current ||
			*again.Previous != have.Current {
			t.Errorf("another handle has other keys: %v", err)
		}
		for _, stale := range []*token.Key{&have.Current, nil} {
			if _, err := s.Rotate(ctx, from(stale)); !fault.Is(err, fault.StoreConflict) {
				t.Errorf("from what is not the current key: %v; want STORE_CONFLICT", err)
			}
		}
		have = next.Keys
	}
	rotateTogether(t, open, have)
}

// rotateTogether: of many rotations from the same key one succeeds, so that no key is lost by a
// race.
func rotateTogether(t *testing.T, open func(time.Duration) Store, have token.Keys) {
	const n = 8
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		s := open(time.Minute)
		all.Go(func() {
			_, errs[i] = s.Rotate(context.Background(), ports.Rotation{By: event.Actor{Kind: event.Agent}, AtMs: 1,
				From: &have.Current})
		})
	}
	all.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !fault.Is(err, fault.StoreConflict) {
			t.Errorf("a rotation that came second: %v; want STORE_CONFLICT", err)
		}
	}
	if after, err := open(0).Keys(context.Background(), ports.ReadOnly); err != nil || done != 1 ||
		*after.Previous != have.Current {
		t.Errorf("%d of %d rotated, %v", done, n, err)
	}
}
