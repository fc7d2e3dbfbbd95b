package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Both ways of waiting notice growth; the one that is told is woken long before it
// would look by itself.
func TestAWaiterIsWoken(t *testing.T) {
	for name, open := range map[string]func(string) *Watcher{"told": func(path string) *Watcher { return Files(path) },
		"looking": Polling} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "manifest.jsonl")
			if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := open(path)
			defer w.Close()
			ctx, cancel := context.WithTimeout(context.Background(), backedUp-time.Second)
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

// TestAFolderThatComesLater: files in a folder that was not there when the watching
// began wake as the others do, the first of them and the next ones.
func TestAFolderThatComesLater(t *testing.T) {
	dir := t.TempDir()
	side := filepath.Join(dir, "side", "manifest.jsonl")
	w := Files(filepath.Join(dir, "manifest.jsonl"), side)
	defer w.Close()
	if w.events == nil {
		t.Skip("nobody tells of changes here")
	}
	ctx, cancel := context.WithTimeout(context.Background(), backedUp-time.Second)
	defer cancel()
	// What wakes may be the folder or the file: it is looked at after every waking.
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
		t.Fatalf("not woken by the folder: %v", err)
	}
	for size, text := range []string{"", "a", "ab"} {
		go func() { _ = os.WriteFile(side, []byte(text), 0o600) }()
		until(size)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := Files(filepath.Join(t.TempDir(), "x"))
	defer w.Close()
	if err := w.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// A folder that is not there cannot be watched; it is looked at instead.
	if w := Files(filepath.Join(t.TempDir(), "no", "x")); w.events != nil {
		t.Error("watches a folder that is not there")
	}
}
