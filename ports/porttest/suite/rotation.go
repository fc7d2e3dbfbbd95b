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

// rotation: Rotate makes the current key the previous one and returns a new current one, for every
// handle.
//   - A store that does not exist is TARGET_NOT_FOUND, and stays absent.
//   - From must be the current key, or nil where no usable keyring exists; anything else is
//     STORE_CONFLICT and changes nothing.
//   - A first keyring has no previous key, and nothing is quarantined for it.
func rotation(t testing.TB, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	from := func(k *token.Key) ports.Rotation {
		return ports.Rotation{By: event.Actor{Kind: event.Human}, AtMs: 1_760_000_000_000, From: k}
	}
	if _, err := s.Rotate(ctx, from(nil)); !fault.Is(err, fault.TargetNotFound) {
		t.Errorf("in an absent store: %v; want TARGET_NOT_FOUND", err)
	}
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("a rotation created the store %q, %v", got, err)
	}
	_, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	if _, err := s.Rotate(ctx, from(&token.Key{1})); !fault.Is(err, fault.StoreConflict) {
		t.Errorf("from an absent key: %v; want STORE_CONFLICT", err)
	}
	// Without a keyring, a rotation from no key makes the first one.
	first, err := s.Rotate(ctx, from(nil))
	must(t, err)
	if first.Keys.Previous != nil || first.QuarantinePlace != "" {
		t.Errorf("the first keyring is %+v; want no previous key and no quarantine", first)
	}
	// Every rotation must keep the key of the one before it, not only the first.
	have := first.Keys
	for range 3 {
		next, err := open(0).Rotate(ctx, from(&have.Current))
		must(t, err)
		if next.Keys.Previous == nil || *next.Keys.Previous != have.Current || next.Keys.Current == have.Current {
			t.Error("the replaced key is not the previous one, or still the current one")
		}
		if again, err := open(0).Keys(ctx, ports.ReadOnly); err != nil || again.Current != next.Keys.Current ||
			*again.Previous != have.Current {
			t.Errorf("another handle reads other keys: %v", err)
		}
		// The replaced key, and no key at all, are not the current one.
		for _, stale := range []*token.Key{&have.Current, nil} {
			if _, err := s.Rotate(ctx, from(stale)); !fault.Is(err, fault.StoreConflict) {
				t.Errorf("from a key that is not the current one: %v; want STORE_CONFLICT", err)
			}
		}
		have = next.Keys
	}
	concurrentRotations(t, open, have)
}

// concurrentRotations: of several rotations from the same key one succeeds; all others are
// STORE_CONFLICT. If two succeeded, the second would drop the key whose tokens the first one was to
// keep valid.
func concurrentRotations(t testing.TB, open func(time.Duration) Store, have token.Keys) {
	const n = 8
	// All start from the same key and wait for each other's lock.
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
	// The key that all started from must still be the previous one.
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !fault.Is(err, fault.StoreConflict) {
			t.Errorf("a later rotation: %v; want STORE_CONFLICT", err)
		}
	}
	if after, err := open(0).Keys(context.Background(), ports.ReadOnly); err != nil || done != 1 ||
		*after.Previous != have.Current {
		t.Errorf("%d of %d rotations succeeded, %v; want 1", done, n, err)
	}
}

// damagedKeyring: a keyring that cannot be read is KEYRING_INVALID, also with ports.MayCreate: its keys are not replaced
// unasked. A rotation from a key is STORE_CONFLICT; one from nil moves it to the quarantine, and the new keyring has one
// key.
func damagedKeyring(t testing.TB, b Bench) {
	needs(t, b.Damage != nil, "damage")
	ctx := context.Background()
	have, err := b.Open(0).Keys(ctx, ports.MayCreate)
	must(t, err)
	b.Damage.Keyring()
	for _, create := range []ports.Create{ports.MayCreate, ports.ReadOnly} {
		if _, err := b.Open(0).Keys(ctx, create); !fault.Is(err, fault.KeyringInvalid) {
			t.Errorf("Keys(%v) of a damaged keyring: %v; want KEYRING_INVALID", create, err)
		}
	}
	r := ports.Rotation{By: actor, AtMs: atMs, From: &have.Current}
	if _, err := b.Open(0).Rotate(ctx, r); !fault.Is(err, fault.StoreConflict) {
		t.Errorf("a rotation from a key of a damaged keyring: %v; want STORE_CONFLICT", err)
	}
	r.From = nil
	out, err := b.Open(0).Rotate(ctx, r)
	must(t, err)
	if out.QuarantinePlace == "" || out.Keys.Previous != nil || out.Keys.Current == have.Current {
		t.Errorf("the replaced keyring is in the quarantine at %q, and the new one has a previous key: %v", out.QuarantinePlace,
			out.Keys.Previous != nil)
	}
	if again, err := b.Open(0).Keys(ctx, ports.ReadOnly); err != nil || again.Current != out.Keys.Current {
		t.Errorf("another handle reads other keys: %v", err)
	}
}
