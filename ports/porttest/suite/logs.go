package suite

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// absentStore: reading a store that does not exist is no error and creates nothing. It has the zero
// id, no sessions and empty logs; the zero head is confirmed. Only the keyring is required: without
// one, Keys is KEYRING_INVALID.
func absentStore(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("StoreID = %q, %v; want the zero id", got, err)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v, %v; want none", list, err)
	}
	seen, v := Read(t, s, r.Log, manifest.Head{})
	if !v.Unborn() || len(seen.Segments) != 0 {
		t.Errorf("a log of an absent store reads as %+v; want unborn", v)
	}
	if err := s.Confirm(ctx, r.Log, manifest.Head{}); err != nil {
		t.Errorf("confirming the zero head: %v", err)
	}
	if _, err := s.Keys(ctx, ports.ReadOnly); !fault.Is(err, fault.KeyringInvalid) {
		t.Errorf("Keys = %v; want KEYRING_INVALID", err)
	}
	// None of the calls above may have created the store.
	if got, _ := s.StoreID(ctx, ports.ReadOnly); !got.IsZero() {
		t.Errorf("reading created the store %q", got)
	}
}

// commit commits the start of a fixture and n advances. It returns the head after each of them.
func commit(t testing.TB, s Store, r *SessionFixture, n int) []manifest.Head {
	t.Helper()
	head, err := Gate(s, r.Start())
	must(t, err)
	heads := []manifest.Head{head}
	for range n {
		head, err = Gate(s, r.Advance(head.Next))
		must(t, err)
		heads = append(heads, head)
	}
	return heads
}

// appendAndRead: another handle reads what was appended, byte for byte and with the heads that
// Append returned, and confirms each of these heads. The log is healthy and has no findings.
func appendAndRead(t testing.TB, open func(time.Duration) Store) {
	s, r := open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 3)
	// Another handle has no state of the writer: it reads what is stored.
	other := open(0)
	seen, v := Read(t, other, r.Log, manifest.Head{})
	if v.Health != manifest.Healthy || len(v.Findings) != 0 || v.Head != heads[3] || v.Head.Next != 12 {
		t.Fatalf("the verdict is %+v; want healthy at %+v", v, heads[3])
	}
	if len(seen.Segments) != len(heads) {
		t.Fatalf("%d segments were visited; want %d", len(seen.Segments), len(heads))
	}
	for i, h := range seen.Heads {
		if h != heads[i] {
			t.Errorf("head %d is %+v; Append returned %+v", i, h, heads[i])
		}
	}
	// A segment is stored as package manifest encodes it, in every store.
	want, err := manifest.EncodeSegment(r.Log, NewSessionFixture(1).Start().Events)
	must(t, err)
	if !bytes.Equal(seen.Segments[0].Bytes, want.Bytes) {
		t.Error("the first segment differs from the appended events")
	}
	// Every earlier head stays confirmed: answers about earlier events may be sent late.
	for _, h := range heads {
		must(t, other.Confirm(context.Background(), r.Log, h))
	}
}

// readFromHead: a reading from a head visits the segments after it and ends at the same head as a
// complete one. An error of the visitor is returned as it is, not wrapped.
func readFromHead(t testing.TB, open func(time.Duration) Store) {
	s, r := open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 3)
	// From the last head on nothing is visited, and the verdict has the same head.
	for i, h := range heads {
		seen, v := Read(t, open(0), r.Log, h)
		if len(seen.Segments) != 3-i || v.Head != heads[3] {
			t.Errorf("from head %d: %d segments, head %+v", i, len(seen.Segments), v.Head)
		}
	}
	// Callers compare the visitor's error by identity to stop a reading early.
	stop := errors.New("stop")
	_, err := s.Read(context.Background(), ports.ReadRequest{Log: r.Log},
		ports.Each(func(manifest.Segment, manifest.Head) error { return stop }))
	if err != stop {
		t.Errorf("reading with a failing visitor returned %v; want its error", err)
	}
}

// foreignHead: a head is a position on the chain of one log. Read and Confirm return
// manifest.ErrNotOnChain for a head of another session's log, also where positions and sizes are
// the same, and for any head of a log that does not exist.
func foreignHead(t testing.TB, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	r, other := NewSessionFixture(1), NewSessionFixture(2)
	commit(t, s, r, 1)
	// The groups of both logs have about the same sizes, so that only the digests distinguish their
	// heads.
	foreign := commit(t, s, other, 2)
	for i, h := range foreign {
		if _, err := s.Read(ctx, ports.ReadRequest{Log: r.Log, From: h}, ports.Skip); !errors.Is(err,
			manifest.ErrNotOnChain) {
			t.Errorf("reading from head %d of another log: %v; want ErrNotOnChain", i, err)
		}
		if err := s.Confirm(ctx, r.Log, h); !errors.Is(err, manifest.ErrNotOnChain) {
			t.Errorf("confirming head %d of another log: %v; want ErrNotOnChain", i, err)
		}
	}
	if err := s.Confirm(ctx, NewSessionFixture(3).Log, foreign[0]); !errors.Is(err, manifest.ErrNotOnChain) {
		t.Errorf("confirming a head of an absent log: %v; want ErrNotOnChain", err)
	}
}

// staleHead: Append with a head that is not the end of the log is STORE_CONFLICT, also under the
// lock and with a live witness, and leaves the log as it is. Without this an engine that decided on
// an old state would commit to a newer one.
func staleHead(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 2)
	// Each plan is valid behind the head that it is appended at; only the head is not the end.
	stale := r.Advance(heads[1].Next)
	for name, at := range map[string]manifest.Head{"the empty log": {}, "an earlier head": heads[0],
		"the head before": heads[1]} {
		err := ports.WithHealthySession(ctx, s, s, r.Log, manifest.Head{}, ports.Skip,
			func(w ports.Witness, _ manifest.Verdict) error {
				p := stale
				if at.Next != heads[1].Next {
					p = NewSessionFixture(1).Advance(at.Next)
				}
				_, err := s.Append(ctx, w, at, p)
				return err
			})
		if !fault.Is(err, fault.StoreConflict) {
			t.Errorf("appending at %s: %v; want STORE_CONFLICT", name, err)
		}
	}
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[2] || v.Health != manifest.Healthy {
		t.Errorf("after conflicts the log is %+v; want head %+v", v, heads[2])
	}
}

// invalidPlan: Append rejects a plan whose events leave a gap in the indices, belong to another
// session or are none, and leaves the log as it is.
func invalidPlan(t testing.TB, open func(time.Duration) Store) {
	s, r := open(0), NewSessionFixture(1)
	heads := commit(t, s, r, 0)
	// An index that is too large by one.
	gap := r.Advance(heads[0].Next + 1)
	if _, err := Gate(s, gap); err == nil {
		t.Error("a plan that leaves a gap was committed")
	}
	// Events whose owner is not the owner of the log.
	foreign := NewSessionFixture(2).Advance(heads[0].Next)
	foreign.Log = r.Log
	if _, err := Gate(s, foreign); err == nil {
		t.Error("events of another session were committed")
	}
	if _, err := Gate(s, manifest.Plan{Log: r.Log}); err == nil {
		t.Error("a plan without events was committed")
	}
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[0] || len(v.Findings) != 0 {
		t.Errorf("after invalid plans the log is %+v; want head %+v", v, heads[0])
	}
}
