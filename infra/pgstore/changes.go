package pgstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
)

// pollPause is the pause between two looks at what is watched. They find what no notification was received of: notifications need
// a connection of their own to the server, which a pool of connections between them does not give.
const pollPause = 5 * time.Second

// watchers are those who watch the store through this handle. One without fields but db is ready.
type watchers struct {
	db *db.DB

	mu   sync.Mutex // guards the fields below, and is held while watchers are called
	all  map[*watcher]bool
	last map[string]string  // the state of each place that is watched, as of the latest look at it
	stop context.CancelFunc // of the goroutines that listen and look; nil without watchers
}

// watcher is one call of Watch or WatchSessions.
type watcher struct {
	roots   []string // of logs; nil: all sessions
	changed func()
}

// Watch implements ports.Changes.
func (m *watchers) Watch(changed func(), logs ...manifest.Log) (stop func()) {
	w := &watcher{roots: make([]string, len(logs)), changed: changed}
	for i, log := range logs {
		w.roots[i] = log.Root
	}
	return m.watch(w)
}

// WatchSessions implements ports.Changes.
func (m *watchers) WatchSessions(changed func()) (stop func()) {
	return m.watch(&watcher{changed: changed})
}

// watch adds a watcher, and begins to listen and to look for the first one. It looks at what is watched before it returns: what
// changes later differs from that.
func (m *watchers) watch(w *watcher) (stop func()) {
	ctx, cancel := context.WithTimeout(context.Background(), db.AnswerMost)
	defer cancel()
	now, _ := m.states(ctx, w.roots, w.roots == nil) // what could not be read differs from every state
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all, m.last = map[*watcher]bool{}, map[string]string{}
	}
	for place, state := range now {
		if _, ok := m.last[place]; !ok {
			m.last[place] = state
		}
	}
	m.all[w] = true
	if m.stop == nil {
		var ctx context.Context
		ctx, m.stop = context.WithCancel(context.Background())
		connected := make(chan struct{}, 1)
		go m.listen(ctx, connected)
		go m.look(ctx, connected)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if delete(m.all, w); len(m.all) == 0 && m.stop != nil {
			m.stop()
			m.stop, m.last = nil, map[string]string{}
		}
	}
}

// announce calls those who watch what changed, by roots of logs and places of control files.
func (m *watchers) announce(changed ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for w := range m.all {
		if slices.ContainsFunc(changed, w.isAbout) {
			w.changed()
		}
	}
}

// isAbout reports that a watcher watches what has a root or place.
func (w *watcher) isAbout(place string) bool {
	if w.roots == nil {
		return strings.HasPrefix(place, "sessions/")
	}
	return slices.Contains(w.roots, place)
}

// listen receives the notifications of the store until ctx ends. connected receives a value when it begins to.
func (m *watchers) listen(ctx context.Context, connected chan<- struct{}) {
	for ctx.Err() == nil {
		m.db.Listen(ctx, func() {
			select {
			case connected <- struct{}{}:
			default:
			}
		}, func(place string) { m.announce(place) })
		select {
		case <-ctx.Done():
		case <-time.After(pollPause):
		}
	}
}

// look compares what is watched with what it was, until ctx ends: each pollPause, and once behind each beginning of listening, since
// changes before that were not received.
func (m *watchers) look(ctx context.Context, connected <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-connected:
		case <-time.After(pollPause):
		}
		m.compare(ctx)
	}
}

// compare announces the places whose state is another one than at the look before.
func (m *watchers) compare(ctx context.Context) {
	m.mu.Lock()
	var roots []string
	all := false
	for w := range m.all {
		roots = append(roots, w.roots...)
		all = all || w.roots == nil
	}
	m.mu.Unlock()
	now, err := m.states(ctx, roots, all)
	if err != nil {
		return // the next look finds it
	}
	m.mu.Lock()
	var changed []string
	for place, state := range now {
		if last, ok := m.last[place]; !ok || last != state {
			changed = append(changed, place)
		}
		m.last[place] = state
	}
	m.mu.Unlock()
	if len(changed) > 0 {
		m.announce(changed...)
	}
}

// sessionsPlace is where states has all sessions.
const sessionsPlace = "sessions/"

// states returns the states of what is watched: of logs their heads, "" for a log that does not exist, and of all sessions how many logs
// they have, the latest change, the sum of their events, and how many control files there are.
func (m *watchers) states(ctx context.Context, roots []string, all bool) (map[string]string, error) {
	out := map[string]string{}
	for _, root := range roots {
		out[root] = ""
	}
	reads := []db.Statement{db.Query("select root, digest from @.logs where root = any ($1)", roots).Into(func(r db.Row) error {
		out[r.Text(0)] = r.Text(1)
		return nil
	})}
	if all {
		reads = append(reads, db.Query("select count(*)::text || ' ' || coalesce(max(changed_ms), 0) || ' ' || coalesce(sum(next), 0), "+
			"(select count(*) from @.controls) from @.logs where place = 'session'").Into(func(r db.Row) error {
			out[sessionsPlace] = r.Text(0) + " " + strconv.FormatInt(r.Int(1), 10)
			return nil
		}))
	}
	if err := m.db.Run(ctx, reads...); err != nil {
		return nil, err
	}
	return out, nil
}
