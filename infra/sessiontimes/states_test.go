package sessiontimes

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// TestStates: each change of a file that lists show, and each mark, changes the state of its session and of no other.
func TestStates(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	times := New(dir)
	folders := map[id.Session][8]byte{}
	known := func(_ int, s id.Session) [8]byte { return folders[s] }
	if got, err := times.States(ctx, known); err != nil || len(got.Sessions) != 0 || got.Others ||
		time.Since(time.Unix(0, got.AtNs)) > time.Minute {
		t.Fatalf("a store that does not exist: %+v, %v", got, err)
	}
	a, b := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2})
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, "sessions", a.String(), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sessions", b.String()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sessions", "other"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions", id.NewSession(id.Seed{3}).String()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write("manifest.jsonl", "one\n")
	states := func() (of map[id.Session]ports.SessionState) {
		t.Helper()
		now, err := times.States(ctx, known)
		all := now.Sessions
		if err != nil || len(all) != 2 || !now.Others || all[0].Session.String() > all[1].Session.String() {
			t.Fatalf("%+v, %v", all, err)
		}
		of = map[id.Session]ports.SessionState{}
		for _, s := range all {
			of[s.Session] = s
		}
		return of
	}
	before := states()
	if again := states(); again[a] != before[a] || again[b] != before[b] || before[a].State == [16]byte{} {
		t.Errorf("without a change: %+v, %+v", before, again)
	}
	for i, change := range []func(){
		func() { write("manifest.jsonl", "one\ntwo\n") },
		func() { write("annotations/other", "one\n") },
		func() { write("annotations/manifest.jsonl", "one\n") },
		func() { write("annotations/manifest.jsonl", "one\ntwo\n") },
		func() { write("suspect", "{}") },
		func() { _ = os.Remove(filepath.Join(dir, "sessions", a.String(), "suspect")) },
		func() {
			// The same size: only the times and the number of the file differ.
			time.Sleep(20 * time.Millisecond)
			write("next", "one\nTWO\n")
			if err := os.Rename(filepath.Join(dir, "sessions", a.String(), "next"),
				filepath.Join(dir, "sessions", a.String(), "manifest.jsonl")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		time.Sleep(20 * time.Millisecond) // a step of the clock of the file system
		change()
		after := states()
		if annotated := after[a].Folder == [8]byte{}; annotated != (i > 0) || after[b].Folder == [8]byte{} {
			t.Errorf("change %d: %+v", i, after)
		}
		for s, st := range after {
			folders[s] = st.Folder // what is known must not hide the next change
		}
		if again := states(); again[a] != after[a] || again[b] != after[b] {
			t.Errorf("%+v, then %+v", after, again)
		}
		if after[a].State == before[a].State || after[b] != before[b] || after[a].ChangedNs < before[a].ChangedNs {
			t.Errorf("%+v, then %+v", before, after)
		}
		before = after
	}
}
