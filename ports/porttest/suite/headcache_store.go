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

func storeHeadCache(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewStory(1)
	log := manifest.Log{Root: "audit", Owner: id.NewStore(id.Seed{1}).String(), Table: event.Opaque("audit", "storeId")}
	want := func(what string, format int, most int64, text string) {
		t.Helper()
		got, err := open(0).CachedHead(ctx, log, format, most)
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v; want %q", what, got, err, text)
		}
	}
	want("in a store that is not there", 1, 100, "")
	must(t, s.KeepHead(ctx, log, 1, []byte("early")))
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("keeping a head cache made the store %q, %v", got, err)
	}
	_, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	commit(t, s, r, 1)
	want("before any was kept", 1, 100, "")
	must(t, s.KeepHead(ctx, log, 1, []byte("one, which is longer")))
	must(t, s.KeepHead(ctx, log, 2, []byte("another format")))
	must(t, s.KeepHead(ctx, log, 1, []byte("two")))
	want("the last one", 1, 100, "two")
	want("its beginning", 1, 2, "tw")
	want("another format", 2, 100, "another format")
	side := manifest.SessionSide(r.Session, event.Opaque("annotations", "sessionId"))
	must(t, s.KeepHead(ctx, side, 1, []byte("of a side log")))
	if got, err := open(0).CachedHead(ctx, side, 1, 100); err != nil || string(got) != "of a side log" {
		t.Errorf("of a side log: %q, %v", got, err)
	}
	if got, err := open(0).CachedHead(ctx, r.Log, 1, 100); err != nil || len(got) > 0 {
		t.Errorf("a side log's stands for the session's: %q, %v", got, err)
	}
	if seen, v := Read(t, s, r.Log, manifest.Head{}); len(v.Findings) > 0 || len(seen.Segments) != 2 {
		t.Errorf("head caches changed a log: %+v", v)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.KeepHead(ended, log, 1, []byte("late")); err == nil {
		t.Error("a call that was ended kept something")
	}
	want("after a call that was ended", 1, 100, "two")
}
