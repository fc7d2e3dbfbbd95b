package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// headCache: KeepHead stores one entry for each session and format, and CachedHead returns its
// first bytes, or nothing where none is stored. An entry creates neither a store nor a session, and
// changes no log. After a canceled call the earlier entry is still returned
// (docs/design.md#head-cache).
func headCache(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	// want reads the entry of a session and format through a new handle, at most limit bytes of it.
	want := func(what string, fixture *SessionFixture, format int, most int64, text string) {
		t.Helper()
		got, err := open(0).CachedHead(ctx, fixture.Log, format, most)
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v; want %q", what, got, err, text)
		}
	}
	want("in an absent store", r, 1, 100, "")
	// An entry for a store that does not exist is dropped without an error.
	must(t, s.StoreHead(ctx, r.Log, 1, []byte("early")))
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("storing an entry created the store %q, %v", got, err)
	}
	heads := commit(t, s, r, 1)
	// An entry for a session that does not exist is dropped; an error is allowed.
	_ = s.StoreHead(ctx, NewSessionFixture(2).Log, 1, []byte("of no session"))
	if list, err := s.Sessions(ctx); err != nil || len(list) != 1 {
		t.Errorf("storing an entry created a session: %v, %v", list, err)
	}
	want("of an absent session", NewSessionFixture(2), 1, 100, "")
	want("before the first entry", r, 1, 100, "")
	// A shorter entry replaces a longer one completely.
	must(t, s.StoreHead(ctx, r.Log, 1, []byte("one, which is longer")))
	must(t, s.StoreHead(ctx, r.Log, 2, []byte("another format")))
	must(t, s.StoreHead(ctx, r.Log, 1, []byte("two")))
	want("the last entry", r, 1, 100, "two")
	want("the beginning of the last entry", r, 1, 2, "tw")
	want("another format", r, 2, 100, "another format")
	if seen, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[1] || len(v.Findings) > 0 ||
		len(seen.Segments) != 2 {
		t.Errorf("storing entries changed the log: %+v", v)
	}
	// A canceled call stores nothing.
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.StoreHead(ended, r.Log, 1, []byte("late")); err == nil {
		t.Error("a canceled call stored an entry")
	}
	want("after a canceled call", r, 1, 100, "two")
}
