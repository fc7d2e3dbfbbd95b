// Package index keeps what lists show of each session of a store, so that a list reads the sessions that changed and
// no others (docs/design.md#index). It is a cache: absent, torn, stale, of another store or of another version it is
// computed again, with the same result, and it can neither delay nor fail an append. A caller that acts on a run that it
// names reads the session.
//
// Start reading at Index.Sessions.
package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Run is a run of a session: what orders and finds it, and its row.
type Run struct {
	ID        id.Run
	Tip       id.Node // the preferred one
	LastAtMs  int64
	LastIndex int64
	// Row and Extra are what a list shows of the run, and what filters compare besides; this package does not look
	// into them.
	Row, Extra []byte
}

// Content is what lists show of one session.
type Content struct {
	Runs []Run // in the order of their start
	// Problems is what could not be read, nil without any; this package does not look into it.
	Problems []byte
	// Keep reports that the content may be kept until the session changes. One that is damaged, that another program
	// wrote, or whose last append is not complete is read for each list.
	Keep bool
}

// Session is a session of the store with its content.
type Session struct {
	ID id.Session
	Content
}

// Source is what an index requires of a store.
type Source interface {
	ports.HeadCache
	ports.Keyring
}

// Index is the index of one store. It is safe for concurrent use.
type Index struct {
	states ports.SessionStates
	source Source
	// Read reads a session.
	Read func(ctx context.Context, s id.Session) (Content, error)

	mu sync.Mutex // one goroutine reads what changed, the others wait for it
}

// New returns the index of a store.
func New(states ports.SessionStates, source Source) *Index {
	return &Index{states: states, source: source}
}

// place is where the cache is stored: it is no log.
var place = manifest.Log{Owner: "index", Table: &event.Table{Name: "index"}}

// rewriteAfter is the number of sessions that are read again for each list before the index is written again: reading
// them costs less than writing all others. A store with fewer sessions has no index.
const rewriteAfter = 16

// Sessions returns every session of the store in the order of their ids. Sessions that changed are read. The errors are
// those of listing sessions, and of Read when the context has ended.
func (x *Index) Sessions(ctx context.Context) ([]Session, error) { return x.sessions(ctx, 0) }

// searchMax is the number of sessions that changed up to which a search does not read them for the index: it reads
// less of them itself.
const searchMax = 256

// Kept is Sessions for a search: sessions that changed are not read, and have Keep false, unless they are many.
func (x *Index) Kept(ctx context.Context) ([]Session, error) { return x.sessions(ctx, searchMax) }

// sessions returns every session. Those that changed are read if they are more than leave.
func (x *Index) sessions(ctx context.Context, leave int) ([]Session, error) {
	states, began, err := x.states.States(ctx)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(states) == 0 {
		return nil, nil
	}
	key := sealed.Key(ctx, x.source)
	have := x.load(ctx, key)
	now := saved{beganNs: began, entries: make([]entry, 0, len(states))}
	out := make([]Session, len(states))
	at := 0
	var changed []int
	for i, st := range states {
		out[i].ID = st.Session
		for at < len(have.entries) && cmp.Compare(have.entries[at].session.String(), st.Session.String()) < 0 {
			at++
		}
		if at < len(have.entries) && have.entries[at].session == st.Session && have.holds(have.entries[at], st) {
			out[i].Content = Content{Runs: have.entries[at].runs, Keep: true}
			continue
		}
		changed = append(changed, i)
	}
	if len(changed) <= leave {
		return out, nil
	}
	stale := 0
	for _, i := range changed {
		if out[i].Content, err = x.Read(ctx, states[i].Session); err != nil {
			return nil, err
		}
		if out[i].Keep {
			stale++
		}
	}
	for i, s := range out {
		if s.Keep {
			now.entries = append(now.entries, entry{s.ID, states[i].State, states[i].ChangedNs, s.Runs})
		}
	}
	x.keep(ctx, key, now, stale)
	return out, nil
}

// keep writes the index, if enough changed since it was written. Errors are ignored: it is computed again.
func (x *Index) keep(ctx context.Context, key *token.Key, now saved, stale int) {
	if key == nil || stale < rewriteAfter {
		return
	}
	doc := encode(now)
	if len(doc) > limits.IndexBytesMax {
		return
	}
	_ = x.source.StoreHead(ctx, place, Format, sealed.Append(nil, seal, key, doc))
}

// load returns the stored index, an empty one if none is valid.
func (x *Index) load(ctx context.Context, key *token.Key) saved {
	if key == nil {
		return saved{}
	}
	data, err := x.source.CachedHead(ctx, place, Format, limits.IndexBytesMax+sealed.Overhead)
	if err != nil || len(data) == 0 {
		return saved{}
	}
	doc, ok := sealed.Open(data, seal, key)
	if !ok {
		return saved{}
	}
	s, ok := decode(doc)
	if !ok || !slices.IsSortedFunc(s.entries, func(a, b entry) int { return cmp.Compare(a.session.String(), b.session.String()) }) {
		return saved{}
	}
	return s
}

// seal is the context under which the key for the seal of the index is derived.
const seal = "waybill 2026 v1 index"
