package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/ports"
)

func auditCache(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewStory(1)
	want := func(what string, format int, most int64, text string) {
		t.Helper()
		got, err := open(0).CachedAudit(ctx, format, most)
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v; want %q", what, got, err, text)
		}
	}
	want("in a store that is not there", 1, 100, "")
	must(t, s.KeepAudit(ctx, 1, []byte("early")))
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("keeping an audit cache made the store %q, %v", got, err)
	}
	_, err := s.StoreID(ctx, ports.MayCreate)
	must(t, err)
	commit(t, s, r, 1)
	want("before any was kept", 1, 100, "")
	must(t, s.KeepAudit(ctx, 1, []byte("one, which is longer")))
	must(t, s.KeepAudit(ctx, 2, []byte("another format")))
	must(t, s.KeepAudit(ctx, 1, []byte("two")))
	want("the last one", 1, 100, "two")
	want("its beginning", 1, 2, "tw")
	want("another format", 2, 100, "another format")
	if seen, v := Read(t, s, r.Log, manifest.Head{}); len(v.Findings) > 0 || len(seen.Segments) != 2 {
		t.Errorf("audit caches changed a log: %+v", v)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.KeepAudit(ended, 1, []byte("late")); err == nil {
		t.Error("a call that was ended kept something")
	}
	want("after a call that was ended", 1, 100, "two")
}
