// Package watch implements ports.Changes for a store in a directory (docs/design.md#changes). It looks at the size and
// the time of the manifests that are watched, a few times a second, and opens no file, so that thousands can be
// watched; changes of this process are announced and reported at once. Start with New.
package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// The pauses between two looks at the watched logs: a short one while a few are watched, as by a command, a longer one
// for those of a server. All sessions of a store are looked at less often, and so that this takes a small share of the
// time.
const (
	pauseOfFew    = 100 * time.Millisecond
	few           = 16
	pauseOfMany   = 500 * time.Millisecond
	sessionsPause = time.Second
	sessionsShare = 20
)

// Changes reports the changes of one store. It is safe for concurrent use.
type Changes struct {
	dir    string
	states ports.SessionStates

	mu       sync.Mutex
	logs     map[string]*watched // by root
	sessions map[*watcher]bool
	polling  context.CancelFunc // of the goroutine that looks at logs; nil without one
	looking  context.CancelFunc // of the goroutine that looks at sessions; nil without one
}

var _ ports.Changes = (*Changes)(nil)

// watched is a log with its watchers.
type watched struct {
	file     string
	state    fileState
	watchers map[*watcher]bool
}

// watcher is one call of Watch.
type watcher struct{ changed func() }

// fileState is what is compared of a file; the zero value is a missing one.
type fileState struct {
	size int64
	at   time.Time
}

// New returns the changes of the store in a directory, which need not exist. states observes its sessions.
func New(dir string, states ports.SessionStates) *Changes {
	return &Changes{dir: dir, states: states, logs: map[string]*watched{}, sessions: map[*watcher]bool{}}
}

// Watch implements ports.Changes.
func (c *Changes) Watch(changed func(), logs ...manifest.Log) (stop func()) {
	w := &watcher{changed}
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*watched
	for _, log := range logs {
		l := c.logs[log.Root]
		if l == nil {
			file := filepath.Join(c.dir, filepath.FromSlash(log.Root), manifest.FileName)
			l = &watched{file: file, state: stateOf(file), watchers: map[*watcher]bool{}}
			c.logs[log.Root] = l
		}
		l.watchers[w] = true
		all = append(all, l)
	}
	if c.polling == nil && len(all) > 0 {
		var ctx context.Context
		ctx, c.polling = context.WithCancel(context.Background())
		go c.poll(ctx)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, l := range all {
			delete(l.watchers, w)
			if len(l.watchers) == 0 && c.logs[logs[i].Root] == l {
				delete(c.logs, logs[i].Root)
			}
		}
		if len(c.logs) == 0 && c.polling != nil {
			c.polling()
			c.polling = nil
		}
	}
}

// WatchSessions implements ports.Changes.
func (c *Changes) WatchSessions(changed func()) (stop func()) {
	w := &watcher{changed}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[w] = true; c.looking == nil {
		var ctx context.Context
		ctx, c.looking = context.WithCancel(context.Background())
		go c.look(ctx)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.sessions, w)
		if len(c.sessions) == 0 && c.looking != nil {
			c.looking()
			c.looking = nil
		}
	}
}

// Announce reports a change of a log by this process.
func (c *Changes) Announce(log manifest.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.logs[log.Root]; l != nil {
		l.state = stateOf(l.file) // the next look need not report the same change
		report(l.watchers)
	}
	if _, err := id.ParseSession(log.Owner); err == nil {
		report(c.sessions)
	}
}

// report calls watchers.
func report(all map[*watcher]bool) {
	for w := range all {
		w.changed()
	}
}

// poll looks at the logs until ctx ends.
func (c *Changes) poll(ctx context.Context) {
	for n := 0; ; {
		pause := pauseOfFew
		if n > few {
			pause = pauseOfMany
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			n = c.compare()
		}
	}
}

// compare reports the logs whose files changed since the last look, and returns how many are watched. No file is
// looked at under the lock.
func (c *Changes) compare() int {
	c.mu.Lock()
	all := make([]*watched, 0, len(c.logs))
	for _, l := range c.logs {
		all = append(all, l)
	}
	c.mu.Unlock()
	for _, l := range all {
		now := stateOf(l.file)
		c.mu.Lock()
		if now != l.state {
			l.state = now
			report(l.watchers)
		}
		c.mu.Unlock()
	}
	return len(all)
}

// look observes the sessions until ctx ends, and reports a difference from the observation before. It reports the first
// observation: a change while that was made may be in it or not.
func (c *Changes) look(ctx context.Context) {
	var last ports.SessionsState
	for first := true; ; first = false {
		began := time.Now()
		now := c.observe(ctx, last)
		pause := max(sessionsPause, sessionsShare*time.Since(began))
		c.mu.Lock()
		if ctx.Err() == nil && (first || !slices.EqualFunc(now.Sessions, last.Sessions, isSame)) {
			report(c.sessions)
		}
		c.mu.Unlock()
		last = now
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// isSame reports that a session is as it was.
func isSame(a, b ports.SessionState) bool { return a.Session == b.Session && a.State == b.State }

// observe observes the sessions. Those that cannot be listed are as before: who reads them reports the error.
func (c *Changes) observe(ctx context.Context, last ports.SessionsState) ports.SessionsState {
	now, err := c.states.States(ctx, func(i int, s id.Session) (folder [8]byte) {
		if i < len(last.Sessions) && last.Sessions[i].Session == s {
			folder = last.Sessions[i].Folder
		}
		return folder
	})
	if err != nil {
		return last
	}
	return now
}

// stateOf is the state of a file.
func stateOf(name string) fileState {
	info, err := os.Lstat(name)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}
