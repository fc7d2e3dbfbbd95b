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
	for name, open := range map[string]func(string) *Watcher{"told": File, "looking": Polling} {
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

func TestWaitingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := File(filepath.Join(t.TempDir(), "x"))
	defer w.Close()
	if err := w.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// A folder that is not there cannot be watched; it is looked at instead.
	if w := File(filepath.Join(t.TempDir(), "no", "x")); w.events != nil {
		t.Error("watches a folder that is not there")
	}
}
