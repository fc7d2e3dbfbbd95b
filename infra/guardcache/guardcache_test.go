package guardcache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/infra/guardcache"
	"github.com/waybill/waybill/ports"
)

// newStore returns a directory with the files that make it a store, and session folders.
func newStore(t *testing.T, sessions ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "store.json"), "{}")
	for _, s := range sessions {
		write(t, filepath.Join(dir, "sessions", s, "manifest.jsonl"), "one\n")
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestStamps(t *testing.T) {
	const a, b = "sess_aaaaaaaaaaaaaaaaaaaaaaaaaa", "sess_aaaaaaaaaaaaaaaaaaaaaaaaae"
	dir := newStore(t, a, b, "other")
	if err := os.MkdirAll(filepath.Join(dir, "sessions", "sess_aaaaaaaaaaaaaaaaaaaaaaaaai"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := guardcache.New(dir)
	read := func() map[string]string {
		all, err := f.Stamps(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, s := range all {
			out[s.Session.String()] = s.Stamp
		}
		return out
	}
	before := read()
	if len(before) != 2 || before[a] == "" || before[b] == "" {
		t.Fatal(before)
	}
	write(t, filepath.Join(dir, "sessions", a, "manifest.jsonl"), "one\ntwo\n")
	if after := read(); after[a] == before[a] || after[b] != before[b] {
		t.Errorf("%v, then %v", before, after)
	}
	if all, err := guardcache.New(filepath.Join(dir, "none")).Stamps(context.Background()); len(all) > 0 || err != nil {
		t.Error(all, err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Stamps(cancelled); err == nil {
		t.Error("a cancelled call has stamps")
	}
}

// TestNoStoreIsMade: without a store nothing is written.
func TestNoStoreIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	f := guardcache.New(dir)
	if err := f.Save(context.Background(), ports.AllRuns, []byte("x")); err == nil {
		t.Error("a list was saved")
	}
	if got, err := f.Saved(context.Background(), ports.AllRuns, 10); got != nil || err != nil {
		t.Error(got, err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the store was made")
	}
}
