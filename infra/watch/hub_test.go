package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// woken reports whether a waiter is woken, without waiting.
func woken(w *Waiter) bool {
	select {
	case <-w.Woken():
		return true
	default:
		return false
	}
}

// TestHubWakes: a change wakes all who wait for its key and no other, once for several changes, whether it is announced or
// found by a poll; a file that appears is a change.
func TestHubWakes(t *testing.T) {
	dir := t.TempDir()
	name := func(k string) string { return filepath.Join(dir, k) }
	h := NewHub[string]()
	a1, a2, b := h.Waiter("a", name("a"), name("a2")), h.Waiter("a", name("a"), name("a2")), h.Waiter("b", name("b"))
	expect := func(what string, wantA, wantB bool) {
		t.Helper()
		if got1, got2, gotB := woken(a1), woken(a2), woken(b); got1 != wantA || got2 != wantA || gotB != wantB {
			t.Errorf("%s: %t %t %t", what, got1, got2, gotB)
		}
	}
	expect("nothing happened", false, false)
	h.Announce("a")
	h.Announce("a")
	expect("announced", true, false)
	expect("read already", false, false)
	h.poll()
	expect("no file changed", false, false)
	if err := os.WriteFile(name("a2"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.poll()
	expect("a file appeared", true, false)
	h.poll()
	expect("found before", false, false)
	h.AnnounceAll()
	expect("all", true, true)
	called := 0
	call := h.Call("a", func() { called++ }, name("a"), name("a2"))
	h.Announce("a")
	call.Close()
	h.Announce("a")
	if expect("called", true, false); called != 1 {
		t.Errorf("%d calls", called)
	}
	a1.Close()
	h.Announce("a")
	if woken(a1) || !woken(a2) {
		t.Error("a closed waiter is woken, or the other one is not")
	}
	a2.Close()
	b.Close()
	if h.Len() != 0 {
		t.Errorf("%d topics without waiters", h.Len())
	}
}

// TestHubRuns: a change of another process wakes a waiter while the hub runs.
func TestHubRuns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	h := NewHub[int]()
	w := h.Waiter(1, name)
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); h.Run(ctx, time.Millisecond) }()
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-w.Woken()
	cancel()
	<-done
}
