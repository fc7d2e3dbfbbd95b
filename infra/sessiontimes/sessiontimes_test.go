package sessiontimes

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
)

// TestLatestFirst: sessions are ordered by the time of their manifests; what is none is left out.
func TestLatestFirst(t *testing.T) {
	dir := t.TempDir()
	times := New(dir)
	if got, err := times.LatestFirst(context.Background()); err != nil || len(got) != 0 {
		t.Fatalf("a store that does not exist: %v, %v", got, err)
	}
	at := time.UnixMilli(1_700_000_000_123)
	manifest := func(name string, age time.Duration) {
		t.Helper()
		file := filepath.Join(dir, "sessions", name, "manifest.jsonl")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at.Add(-age), at.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c, d := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2}), id.NewSession(id.Seed{3}), id.NewSession(id.Seed{4})
	manifest(a.String(), time.Hour)
	manifest(b.String(), 0)
	manifest(c.String(), time.Minute)
	manifest("notes", 0)
	if err := os.Mkdir(filepath.Join(dir, "sessions", d.String()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions", id.NewSession(id.Seed{5}).String()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := times.LatestFirst(context.Background())
	if err != nil || len(got) != 3 || got[0].Session != b || got[1].Session != c || got[2].Session != a ||
		got[0].ChangedMs != at.UnixMilli() {
		t.Errorf("got %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := times.LatestFirst(ctx); err == nil {
		t.Error("a cancelled call has no error")
	}
}
