// Package watch waits until one of some files grows. It asks the operating system to say so,
// and where that is not possible, as on some network filesystems, looks from time to
// time: a waiter is woken late at worst, never not at all. What changed is for its
// caller to find out.
package watch

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The times between two looks: often where nobody tells us of changes, and seldom
// where somebody does, since notifications can be lost.
const (
	alone    = 500 * time.Millisecond
	backedUp = 5 * time.Second
)

// Watcher waits for changes of files.
type Watcher struct {
	files  []string
	events *fsnotify.Watcher // nil: nobody tells us
}

// Files watches a file, and others beside it or in folders beside it, which need not be
// there yet. It never fails: what cannot be watched is looked at.
func Files(path string, others ...string) *Watcher {
	w := &Watcher{files: append([]string{path}, others...)}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return w
	}
	// The folder is watched, not the file: a file that is exchanged is another one.
	if err := events.Add(filepath.Dir(path)); err != nil {
		_ = events.Close()
		return w
	}
	for _, other := range others {
		_ = events.Add(filepath.Dir(other)) // one that is not there is added when it comes
	}
	w.events = events
	return w
}

// Polling is a Watcher that is told nothing.
func Polling(path string) *Watcher { return &Watcher{files: []string{path}} }

// Wait returns when a file may have changed since Wait was called, or with ctx's
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
			if w.concerns(e.Name) {
				return nil
			}
		}
	}
}

// concerns reports that a file is meant, or the folder that one lies in: with that the
// file may have come, and from now on the folder itself tells.
func (w *Watcher) concerns(name string) bool {
	if slices.Contains(w.files, name) {
		return true
	}
	for _, file := range w.files {
		if filepath.Dir(file) == name {
			_ = w.events.Add(name) // it may be gone again
			return true
		}
	}
	return false
}

// Close stops being told.
func (w *Watcher) Close() {
	if w.events != nil {
		_ = w.events.Close()
	}
}
