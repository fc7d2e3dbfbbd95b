// Package watch waits until a file grows. It asks the operating system to say so,
// and where that is not possible, as on some network filesystems, looks from time to
// time: a waiter is woken late at worst, never not at all. What changed is for its
// caller to find out.
package watch

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The times between two looks: often where nobody tells us of changes, and seldom
// where somebody does, since notifications can be lost.
const (
	alone    = 500 * time.Millisecond
	backedUp = 5 * time.Second
)

// Watcher waits for changes of one file.
type Watcher struct {
	file   string
	events *fsnotify.Watcher // nil: nobody tells us
}

// File watches a file. It never fails: what cannot be watched is looked at.
func File(path string) *Watcher {
	w := &Watcher{file: path}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return w
	}
	// The folder is watched, not the file: a file that is exchanged is another one.
	if err := events.Add(filepath.Dir(path)); err != nil {
		_ = events.Close()
		return w
	}
	w.events = events
	return w
}

// Polling is a Watcher that is told nothing.
func Polling(path string) *Watcher { return &Watcher{file: path} }

// Wait returns when the file may have changed since Wait was called, or with ctx's
// error when that ends first. Several changes may be told as one.
func (w *Watcher) Wait(ctx context.Context) error {
	look := alone
	var changes <-chan fsnotify.Event
	var lost <-chan error
	if w.events != nil {
		look, changes, lost = backedUp, w.events.Events, w.events.Errors
	}
	timer := time.NewTimer(look)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case <-lost:
			return nil
		case e, open := <-changes:
			if !open {
				w.events, changes = nil, nil
				return nil
			}
			if e.Name == w.file {
				return nil
			}
		}
	}
}

// Close stops being told.
func (w *Watcher) Close() {
	if w.events != nil {
		_ = w.events.Close()
	}
}
