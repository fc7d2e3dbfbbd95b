// Package watch waits until one of some files changes. It uses notifications of the operating
// system, and polls as well, since some filesystems send none and notifications can be lost: a
// waiter is woken late at worst. It does not report what changed; callers read the files. Start
// with Files.
package watch

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The pause between two polls: short without notifications, long with them.
const (
	pollInterval           = 500 * time.Millisecond
	pollIntervalWithEvents = 5 * time.Second
)

// Watcher waits for changes of files. It is used by one goroutine.
type Watcher struct {
	files    []string
	interval time.Duration
	events   *fsnotify.Watcher // nil without notifications, like its channels
	changes  <-chan fsnotify.Event
	lost     <-chan error
}

// Files watches a file and others, which need not exist yet, nor their directories. It never fails:
// files that cannot be watched are polled.
func Files(path string, others ...string) *Watcher {
	w := Polling(append([]string{path}, others...)...)
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return w
	}
	// The directory is watched, not the file: a file that is replaced is another inode.
	if err := events.Add(filepath.Dir(path)); err != nil {
		_ = events.Close()
		return w
	}
	for _, other := range others {
		dir := filepath.Dir(other)
		if events.Add(dir) != nil {
			_ = events.Add(filepath.Dir(dir)) // a missing directory is added when it is created
		}
	}
	w.interval, w.events, w.changes, w.lost = pollIntervalWithEvents, events, events.Events, events.Errors
	return w
}

// Polling returns a Watcher without notifications.
func Polling(files ...string) *Watcher { return &Watcher{files: files, interval: pollInterval} }

// Wait returns nil when a file may have changed since Wait was called, or ctx's error. It may
// return without a change, and once for several changes.
//
// Each call starts the timer of the poll again.
func (w *Watcher) Wait(ctx context.Context) error {
	timer := time.NewTimer(w.interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case <-w.lost: //nolint:errcheck // which error it was does not matter: events may be missing
			return nil
		case e, open := <-w.changes:
			if !open {
				*w = *Polling(w.files...)
				return nil
			}
			if w.isWatched(e.Name) {
				return nil
			}
		}
	}
}

// isWatched reports an event for a watched file, or for the directory of one. A new directory may
// contain the file already, so it counts as a change, and it is watched from now on.
func (w *Watcher) isWatched(name string) bool {
	if slices.ContainsFunc(w.files, func(file string) bool { return filepath.Dir(file) == name }) {
		_ = w.events.Add(name) // fails when it was removed again
		return true
	}
	return slices.Contains(w.files, name)
}

// Close stops the notifications.
func (w *Watcher) Close() {
	if w.events != nil {
		_ = w.events.Close()
	}
}
