package suite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// witnesses: Append returns ports.ErrWitness, and writes nothing, for every witness but a live one
// of the same log and of the same handle. A witness is live until the callback of the gate returns,
// so that a goroutine that outlives it cannot write without the lock
// (docs/design.md#commit-protocol).
func witnesses(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r, other := context.Background(), open(0), NewSessionFixture(1), NewSessionFixture(2)
	heads := commit(t, s, r, 0)
	commit(t, s, other, 0)
	p := r.Advance(heads[0].Next)
	// refused expects that an append of the valid plan p with this witness is rejected.
	refused := func(name string, w ports.Witness) {
		t.Helper()
		if _, err := s.Append(ctx, w, heads[0], p); !errors.Is(err, ports.ErrWitness) {
			t.Errorf("appending with %s: %v; want ErrWitness", name, err)
		}
	}
	refused("the zero witness", ports.Witness{})
	var expired ports.Witness
	// gate runs fn with a live witness of a log, under the lock of st.
	gate := func(st Store, l manifest.Log, fn func(ports.Witness)) {
		must(t, ports.WithHealthySession(ctx, st, st, l, manifest.Head{}, ports.Skip,
			func(w ports.Witness, _ manifest.Verdict) error {
				fn(w)
				return nil
			}))
	}
	gate(s, r.Log, func(w ports.Witness) { expired = w })
	refused("a witness after its gate", expired)
	gate(s, other.Log, func(w ports.Witness) { refused("another log's witness", w) })
	gate(s, SessionNotes(r.Session), func(w ports.Witness) { refused("a side log's witness", w) })
	// Inside the gate this handle holds the lock, so a check of the lock alone would accept these.
	gate(s, r.Log, func(ports.Witness) {
		refused("the zero witness, inside the gate", ports.Witness{})
		refused("an expired witness, inside the gate", expired)
		gate(s, other.Log, func(w ports.Witness) { refused("another log's witness, inside the gate", w) })
	})
	// A witness of a second handle, which holds the lock, does not allow the first handle to
	// append.
	gate(open(0), r.Log, func(w ports.Witness) { refused("another handle's witness", w) })
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[0] {
		t.Errorf("an append with an invalid witness moved the log to %+v", v.Head)
	}
	if _, err := Gate(s, p); err != nil {
		t.Errorf("appending the same plan with a live witness: %v", err)
	}
}

// exclusiveLock: a log has one lock holder, across handles.
//   - A lock that is held is SESSION_LOCKED, retryable after a time, with the holder in the detail
//     "holder"; no earlier than the configured wait.
//   - A handle that waits gets the lock when it is released.
//   - A context that ends stops the wait, and its error is in the chain.
//   - Confirm waits for the lock too: it must not acknowledge an append in progress.
//   - Logs of other sessions are not affected, and unlocking twice is harmless.
func exclusiveLock(t testing.TB, open func(time.Duration) Store) {
	ctx, holder, r := context.Background(), open(0), NewSessionFixture(1)
	heads := commit(t, holder, r, 0)
	unlock, err := holder.Lock(ctx, r.Log)
	must(t, err)
	// A handle that does not wait reports the holder at once.
	_, err = open(0).Lock(ctx, r.Log)
	if err == nil {
		t.Fatal("a log has two lock holders")
	}
	f := fault.Of(err)
	if f.Code != fault.SessionLocked || f.Retry.Kind != fault.RetryableAfterMs ||
		!namesHolder(f) {
		t.Fatalf("a second lock: %v (retry %+v, details %v); want SESSION_LOCKED with the holder", err, f.Retry,
			f.Details)
	}
	// A handle that waits reports it after its wait, not earlier.
	start := time.Now()
	if _, err := open(60*time.Millisecond).Lock(ctx, r.Log); !fault.Is(err, fault.SessionLocked) ||
		time.Since(start) < 60*time.Millisecond {
		t.Errorf("a lock waited for %v and returned %v; want 60ms, SESSION_LOCKED", time.Since(start), err)
	}
	// Confirming needs the lock too, here without waiting for it.
	if err := open(0).Confirm(ctx, r.Log, heads[0]); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("confirming while a writer holds the log: %v; want SESSION_LOCKED", err)
	}
	// A deadline of the caller ends the wait before the configured minute.
	cancelled, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if _, err := open(time.Minute).Lock(cancelled, r.Log); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a canceled wait returned %v; want DeadlineExceeded", err)
	}
	// Locks of different sessions are independent.
	if unlockOther, err := open(0).Lock(ctx, NewSessionFixture(2).Log); err != nil {
		t.Errorf("the lock of one session blocks another: %v", err)
	} else {
		must(t, unlockOther())
	}
	// A waiting handle gets the lock once it is released.
	time.AfterFunc(30*time.Millisecond, func() { _ = unlock() })
	unlock2, err := open(5*time.Second).Lock(ctx, r.Log)
	must(t, err)
	must(t, unlock2())
	must(t, unlock2()) // has no effect
}

// concurrentWriters: handles that lock, read and append at the same time commit all of their plans,
// in some order, and the log stays healthy.
func concurrentWriters(t testing.TB, open func(time.Duration) Store) {
	// Each handle appends that many plans, each decided under the lock from the head that it read.
	const writers, each = 4, 5
	r := NewSessionFixture(1)
	commit(t, open(0), r, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards r, which counts its steps
	for range writers {
		s := open(time.Minute)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range each {
				ctx := context.Background()
				err := ports.WithHealthySession(ctx, s, s, r.Log, manifest.Head{}, ports.Skip,
					func(w ports.Witness, v manifest.Verdict) error {
						mu.Lock()
						p := r.Advance(v.Head.Next)
						mu.Unlock()
						_, err := s.Append(ctx, w, v.Head, p)
						return err
					})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	// The start has 3 events, and so has each advance.
	_, v := Read(t, open(0), r.Log, manifest.Head{})
	if want := int64(3 + 3*writers*each); v.Head.Next != want || v.Health != manifest.Healthy || len(v.Findings) > 0 {
		t.Fatalf("after %d appends the log is %+v; want next %d", writers*each, v, want)
	}
}
