package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// storeHeadCache: logs of the store and side logs have entries of their own, for each format. An
// entry of a log of the store requires the store, not the log; an entry of a side log is no entry
// of its session's log. Otherwise the contract is that of headCache.
func storeHeadCache(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	// The log itself is never written to: an entry requires the store only.
	log := manifest.Log{Root: "audit", Owner: id.NewStore(id.Seed{1}).String(), Table: event.Opaque("audit", "storeId")}
	// want reads the entry of that log through a new handle, at most limit bytes of it.
	want := func(what string, format int, most int64, text string) {
		t.Helper()
		got, err := open(0).CachedHead(ctx, log, format, most)
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v; want %q", what, got, err, text)
		}
	}
	want("in an absent store", 1, 100, "")
	must(t, s.StoreHead(ctx, log, 1, []byte("early")))
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("storing an entry created the store %q, %v", got, err)
	}
	_, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	commit(t, s, r, 1)
	want("before the first entry", 1, 100, "")
	// A shorter entry replaces a longer one completely; formats do not replace each other.
	must(t, s.StoreHead(ctx, log, 1, []byte("one, which is longer")))
	must(t, s.StoreHead(ctx, log, 2, []byte("another format")))
	must(t, s.StoreHead(ctx, log, 1, []byte("two")))
	want("the last entry", 1, 100, "two")
	want("the beginning of the last entry", 1, 2, "tw")
	want("another format", 2, 100, "another format")
	// A side log of the same session has an entry of its own.
	side := manifest.SessionSide(r.Session, event.Opaque("annotations", "sessionId"))
	must(t, s.StoreHead(ctx, side, 1, []byte("of a side log")))
	if got, err := open(0).CachedHead(ctx, side, 1, 100); err != nil || string(got) != "of a side log" {
		t.Errorf("the entry of a side log is %q, %v", got, err)
	}
	if got, err := open(0).CachedHead(ctx, r.Log, 1, 100); err != nil || len(got) > 0 {
		t.Errorf("the session's log has the entry of its side log: %q, %v", got, err)
	}
	if seen, v := Read(t, s, r.Log, manifest.Head{}); len(v.Findings) > 0 || len(seen.Segments) != 2 {
		t.Errorf("storing entries changed a log: %+v", v)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.StoreHead(ended, log, 1, []byte("late")); err == nil {
		t.Error("a canceled call stored an entry")
	}
	want("after a canceled call", 1, 100, "two")
}
