package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

func headCache(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewStory(1)
	want := func(what string, story *Story, format int, most int64, text string) {
		t.Helper()
		got, err := open(0).CachedHead(ctx, story.Log, format, most)
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v; want %q", what, got, err, text)
		}
	}
	want("in a store that is not there", r, 1, 100, "")
	must(t, s.KeepHead(ctx, r.Log, 1, []byte("early")))
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("keeping a head cache made the store %q, %v", got, err)
	}
	heads := commit(t, s, r, 1)
	_ = s.KeepHead(ctx, NewStory(2).Log, 1, []byte("of nobody"))
	if list, err := s.Sessions(ctx); err != nil || len(list) != 1 {
		t.Errorf("keeping a head cache made a session: %v, %v", list, err)
	}
	want("of a session that is not there", NewStory(2), 1, 100, "")
	want("before any was kept", r, 1, 100, "")
	must(t, s.KeepHead(ctx, r.Log, 1, []byte("one, which is longer")))
	must(t, s.KeepHead(ctx, r.Log, 2, []byte("another format")))
	must(t, s.KeepHead(ctx, r.Log, 1, []byte("two")))
	want("the last one", r, 1, 100, "two")
	want("its beginning", r, 1, 2, "tw")
	want("another format", r, 2, 100, "another format")
	if seen, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[1] || len(v.Findings) > 0 ||
		len(seen.Segments) != 2 {
		t.Errorf("head caches changed the log: %+v", v)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.KeepHead(ended, r.Log, 1, []byte("late")); err == nil {
		t.Error("a call that was ended kept something")
	}
	want("after a call that was ended", r, 1, 100, "two")
}
