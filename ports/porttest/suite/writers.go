package suite

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

func witnesses(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r, other := context.Background(), open(0), NewStory(1), NewStory(2)
	heads := commit(t, s, r, 0)
	commit(t, s, other, 0)
	p := r.Advance(heads[0].Next)
	refused := func(name string, w ports.Witness) {
		t.Helper()
		if _, err := s.Append(ctx, w, heads[0], p); !errors.Is(err, ports.ErrWitness) {
			t.Errorf("appending with %s: %v; want ErrWitness", name, err)
		}
	}
	refused("the zero witness", ports.Witness{})
	var stashed ports.Witness
	gate := func(st Store, l manifest.Log, fn func(ports.Witness)) {
		must(t, ports.WithHealthySession(ctx, st, st, l, manifest.Head{}, &Seen{},
			func(w ports.Witness, _ manifest.Verdict) error {
				fn(w)
				return nil
			}))
	}
	gate(s, r.Log, func(w ports.Witness) { stashed = w })
	refused("a witness that outlived its gate", stashed)
	gate(s, other.Log, func(w ports.Witness) { refused("another log's witness", w) })
	gate(s, SessionNotes(r.Session), func(w ports.Witness) { refused("a side log's witness", w) })
	// Inside the gate the lock is held: only the witness itself distinguishes them.
	gate(s, r.Log, func(ports.Witness) {
		refused("the zero witness, inside the gate", ports.Witness{})
		refused("an old witness, inside the gate", stashed)
		gate(s, other.Log, func(w ports.Witness) { refused("another log's witness, inside the gate", w) })
	})
	// A second handle holds the lock: its witness is not accepted for the first handle's.
	gate(open(0), r.Log, func(w ports.Witness) { refused("another store's witness", w) })
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[0] {
		t.Errorf("a refused witness moved the log to %+v", v.Head)
	}
	if _, err := Gate(s, p); err != nil {
		t.Errorf("the same plan with a live witness: %v", err)
	}
}

func oneWriter(t *testing.T, open func(time.Duration) Store) {
	ctx, holder, r := context.Background(), open(0), NewStory(1)
	heads := commit(t, holder, r, 0)
	unlock, err := holder.Lock(ctx, r.Log)
	must(t, err)
	_, err = open(0).Lock(ctx, r.Log)
	f := fault.Of(err)
	if err == nil || f.Code != fault.SessionLocked || f.Retry.Kind != fault.RetryableAfterMs ||
		f.Details["holderPid"] != os.Getpid() {
		t.Fatalf("a second lock: %v (retry %+v, details %v); want SESSION_LOCKED with the holder's pid", err, f.Retry,
			f.Details)
	}
	start := time.Now()
	if _, err := open(60*time.Millisecond).Lock(ctx, r.Log); !fault.Is(err, fault.SessionLocked) ||
		time.Since(start) < 60*time.Millisecond {
		t.Errorf("a lock waited for %v and said %v; want 60ms, SESSION_LOCKED", time.Since(start), err)
	}
	if err := open(0).Confirm(ctx, r.Log, heads[0]); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("confirming while a writer holds the log: %v; want SESSION_LOCKED", err)
	}
	cancelled, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if _, err := open(time.Minute).Lock(cancelled, r.Log); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cancelled wait said %v", err)
	}
	if unlockOther, err := open(0).Lock(ctx, NewStory(2).Log); err != nil {
		t.Errorf("another session is locked as well: %v", err)
	} else {
		must(t, unlockOther())
	}
	time.AfterFunc(30*time.Millisecond, func() { _ = unlock() })
	unlock2, err := open(5*time.Second).Lock(ctx, r.Log)
	must(t, err)
	must(t, unlock2())
	must(t, unlock2()) // a second call is harmless
}

func manyWriters(t *testing.T, open func(time.Duration) Store) {
	const writers, each = 4, 5
	r := NewStory(1)
	commit(t, open(0), r, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex // the run counts its own steps
	for range writers {
		s := open(time.Minute)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range each {
				ctx := context.Background()
				err := ports.WithHealthySession(ctx, s, s, r.Log, manifest.Head{}, &Seen{},
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
	_, v := Read(t, open(0), r.Log, manifest.Head{})
	if want := int64(3 + 3*writers*each); v.Head.Next != want || v.Health != manifest.Healthy || len(v.Findings) > 0 {
		t.Fatalf("after %d appends the log is %+v; want next %d", writers*each, v, want)
	}
}
