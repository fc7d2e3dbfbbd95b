package memstore

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

var _ ports.Changes = (*Store)(nil)

// watcher is one call of Watch or WatchSessions, by any handle.
type watcher struct {
	roots   []string // of logs; nil for all sessions
	changed func()
}

// Watch implements ports.Changes.
func (s *Store) Watch(changed func(), logs ...manifest.Log) (stop func()) {
	w := &watcher{roots: make([]string, len(logs)), changed: changed}
	for i, log := range logs {
		w.roots[i] = log.Root
	}
	return s.disk.watch(w)
}

// WatchSessions implements ports.Changes.
func (s *Store) WatchSessions(changed func()) (stop func()) {
	return s.disk.watch(&watcher{changed: changed})
}

// watch adds a watcher.
func (d *Disk) watch(w *watcher) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watchers == nil {
		d.watchers = map[*watcher]bool{}
	}
	d.watchers[w] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, w)
	}
}

// announce calls those who watch what changed: roots of logs, or paths of control files. The caller holds mu.
func (d *Disk) announce(changed ...string) {
	for w := range d.watchers {
		if slices.ContainsFunc(changed, w.isAbout) {
			w.changed()
		}
	}
}

// isAbout reports that a watcher watches what has a path.
func (w *watcher) isAbout(path string) bool {
	if w.roots == nil {
		return strings.HasPrefix(path, "sessions/")
	}
	return slices.Contains(w.roots, path)
}
