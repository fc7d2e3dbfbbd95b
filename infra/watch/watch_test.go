package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWaitReturnsOnGrowth: with notifications the waiter is woken well before the next poll.
func TestWaitReturnsOnGrowth(t *testing.T) {
	notified := func(path string) *Watcher { return Files(path) }
	polling := func(path string) *Watcher { return Polling(path) }
	for name, open := range map[string]func(string) *Watcher{"notified": notified, "polling": polling} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "manifest.jsonl")
			if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := open(path)
			defer w.Close()
			ctx, cancel := context.WithTimeout(context.Background(), pollIntervalWithEvents-time.Second)
			defer cancel()
			go func() {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
				if err == nil {
					_, _ = f.WriteString("b")
					_ = f.Close()
				}
			}()
			if err := w.Wait(ctx); err != nil {
				t.Errorf("not woken: %v", err)
			}
		})
	}
}

// TestWaitInLaterDirectory: files of a directory that is created after the watch began wake the
// waiter, the first one and later ones.
func TestWaitInLaterDirectory(t *testing.T) {
	dir := t.TempDir()
	side := filepath.Join(dir, "side", "manifest.jsonl")
	w := Files(filepath.Join(dir, "manifest.jsonl"), side)
	defer w.Close()
	if w.events == nil {
		t.Skip("no notifications on this system")
	}
	ctx, cancel := context.WithTimeout(context.Background(), pollIntervalWithEvents-time.Second)
	defer cancel()
	// The directory or the file may have changed, so the file is read after each Wait.
	until := func(size int) {
		t.Helper()
		for {
			if b, err := os.ReadFile(side); err == nil && len(b) == size {
				return
			}
			if err := w.Wait(ctx); err != nil {
				t.Fatalf("not woken: %v", err)
			}
		}
	}
	go func() { _ = os.Mkdir(filepath.Dir(side), 0o700) }()
	if err := w.Wait(ctx); err != nil {
		t.Fatalf("not woken by the directory: %v", err)
	}
	for size, text := range []string{"", "a", "ab"} {
		go func() { _ = os.WriteFile(side, []byte(text), 0o600) }()
		until(size)
	}
}

func TestWaitStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := Files(filepath.Join(t.TempDir(), "x"))
	defer w.Close()
	if err := w.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// A missing directory cannot be watched; the file is polled instead.
	if w := Files(filepath.Join(t.TempDir(), "no", "x")); w.events != nil {
		t.Error("a missing directory is watched")
	}
}
