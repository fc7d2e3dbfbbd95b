// Package index keeps what lists show of each session of a store, and which words its texts may have, so that a list
// or a search reads the sessions that changed and those that match (docs/design.md#index). It is a cache: absent, torn,
// stale, of another store or of another version it is computed again, with the same result, and it can neither delay
// nor fail an append. A caller that acts on a run that it names reads the session.
//
// Start reading at Index.Sessions.
package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Format is the number of the form of the index.
const Format = 5

// Run is a run of a session: what orders and finds it, and its row.
type Run struct {
	ID        id.Run
	Tip       id.Node // the preferred one
	LastAtMs  int64
	LastIndex int64
	// Open reports that the run may wait for a person.
	Open bool
	// States are the statuses by which the run is selected. The index does not keep them.
	States []string
	// Row is what a list shows of the run; this package does not look into it.
	Row                   string
	facts, pending, waits string
}

// Content is what lists show of one session.
type Content struct {
	Runs   []Run // in the order of their start
	Events int64 // in its log
	// Marked reports that the session has a keep mark.
	Marked bool
	// Problems is what could not be read, nil without any; this package does not look into it.
	Problems []byte
	// Keep reports that the content may be kept until the session changes. One that is damaged, that another program
	// wrote, or whose last append is not complete is read for each list.
	Keep bool
	// Heads is set in what was read, and nil in what was kept.
	Heads *Heads
}

// Heads are the heads of the events and the annotations of a session that were read.
type Heads struct{ Events, Notes manifest.Head }

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

// Catalogue has what lists show of the sessions of a store: an Index, which the store's files decide, or the Shared one of a
// store that keeps briefs.
type Catalogue interface {
	// Sessions returns every session of the store. Sessions that changed are read. The errors are those of listing sessions,
	// and of reading when the context has ended.
	Sessions(ctx context.Context) (Listing, error)

	// Select is Sessions for the runs that a query selects: at least these, and those of sessions that changed. The caller
	// compares what it gets.
	Select(ctx context.Context, q ports.BriefQuery) (Listing, error)

	// Each passes the runs of Select one by one, in the order of a list, each with its session, whose Runs are nil. A session that
	// has problems, or was read and has no runs, is passed before, without a run. What is passed is valid during the call. Of a catalogue in the store no more
	// is held than sessions that changed. The errors are those of Select, and of the function.
	Each(ctx context.Context, q ports.BriefQuery, visit func(*Session, *Run) error) error

	// IsBounded reports that all runs fit into memory: those of an index are in one file. Of a catalogue in the store Each holds less.
	IsBounded() bool

	// Find returns at least the sessions that may have a run: one whose id begins with run, or with "" the one with the latest
	// event. Sessions that changed may be returned unread, with Keep false.
	Find(ctx context.Context, run string) ([]Session, error)

	// Words returns what is known of the words of the sessions of a listing of Sessions, in the same order. The errors are
	// those of reading when the context has ended.
	Words(ctx context.Context, l Listing) ([]Words, error)

	// Logs returns the texts that are kept of sessions: what the disk usage needs of their logs. A session that changed
	// is passed to read, which returns the text and whether it may be kept until the session changes. The errors are those
	// of listing sessions, and of read.
	Logs(ctx context.Context, read func(context.Context, id.Session) (text []byte, keep bool, err error)) (map[id.Session]string, error)

	// OnRead sets what is called with the number of sessions that were read, of those that changed, while they are read. It is
	// called before the catalogue is used.
	OnRead(call func(read, of int))

	// Forget removes all that is kept, before facts are removed from the store that it may contain.
	Forget(ctx context.Context)

	// ReadBy sets what reads the sessions, before the catalogue is used.
	ReadBy(Readers)
}

// Readers read what a catalogue shows.
type Readers struct {
	// Read reads a session.
	Read func(ctx context.Context, s id.Session) (Content, error)
	// ReadWords reads all texts of a session. keep is false for one that is to be read for each search.
	ReadWords func(ctx context.Context, s id.Session, add func(text string)) (about WordsOf, keep bool, err error)
}

// ReadBy implements Catalogue.
func (r *Readers) ReadBy(by Readers) { *r = by }

// Index is the index of one store. It is safe for concurrent use.
type Index struct {
	rows, words, logs *table
	Readers
}

var _ Catalogue = (*Index)(nil)

// New returns the index of a store.
func New(states ports.SessionStates, source Source) *Index {
	return &Index{rows: newTable(states, source, "index", Format), words: newTable(states, source, "search", WordsFormat),
		logs: newTable(states, source, "usage", LogsFormat)}
}

// Listing is what the index has of a store.
type Listing struct {
	Sessions []Session // in the order of their ids
	// Others reports directories among the sessions that are not named like one.
	Others bool
	// Selected reports that runs which a query does not select may be missing.
	Selected bool

	now ports.SessionsState
}

// Sessions implements Catalogue.
func (x *Index) Sessions(ctx context.Context) (Listing, error) { return x.sessions(ctx, 0) }

// IsBounded implements Catalogue.
func (x *Index) IsBounded() bool { return true }

// Each implements Catalogue.
func (x *Index) Each(ctx context.Context, q ports.BriefQuery, visit func(*Session, *Run) error) error {
	l, err := x.Select(ctx, q)
	if err != nil {
		return err
	}
	return eachOf(l.Sessions, visit)
}

// placed is a run with its session.
type placed struct {
	session *Session
	run     *Run
}

// ordered returns the runs of sessions in the order of a list, behind the sessions that have none, or problems.
func ordered(all []Session) (out []placed) {
	for i := range all {
		s := &all[i]
		alone := *s
		alone.Runs = nil
		if len(s.Runs) == 0 || s.Problems != nil {
			out = append(out, placed{&alone, nil})
		}
		for k := range s.Runs {
			out = append(out, placed{&alone, &s.Runs[k]})
		}
	}
	slices.SortStableFunc(out, func(a, b placed) int { return compareRuns(a.run, b.run) })
	return out
}

// compareRuns is the order of a list: the latest event first, by time, then by index, then in the order of ids. No run is the first.
func compareRuns(a, b *Run) int {
	if a == nil || b == nil {
		return cmp.Compare(boolInt(a != nil), boolInt(b != nil))
	}
	return cmp.Or(cmp.Compare(b.LastAtMs, a.LastAtMs), cmp.Compare(b.LastIndex, a.LastIndex), a.ID.Compare(b.ID))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// eachOf passes the runs of sessions in the order of a list.
func eachOf(all []Session, visit func(*Session, *Run) error) error {
	for _, one := range ordered(all) {
		if err := visit(one.session, one.run); err != nil {
			return err
		}
	}
	return nil
}

// searchMax is the number of sessions that changed up to which a search for a run does not read them for the index: it
// reads less of them itself.
const searchMax = 256

// Select implements Catalogue: what is kept is one file, which is read as a whole.
func (x *Index) Select(ctx context.Context, _ ports.BriefQuery) (Listing, error) {
	return x.sessions(ctx, 0)
}

// Find implements Catalogue: sessions that changed are not read unless they are many.
func (x *Index) Find(ctx context.Context, _ string) ([]Session, error) {
	l, err := x.sessions(ctx, searchMax)
	return l.Sessions, err
}

// OnRead implements Catalogue.
func (x *Index) OnRead(call func(read, of int)) {
	x.rows.onRead, x.words.onRead, x.logs.onRead = call, call, call
}

// Forget implements Catalogue.
func (x *Index) Forget(ctx context.Context) {
	x.rows.forget(ctx)
	x.words.forget(ctx)
	x.logs.forget(ctx)
}

// sessions returns every session. Those that changed are read if they are more than leave.
func (x *Index) sessions(ctx context.Context, leave int) (out Listing, err error) {
	x.rows.mu.Lock()
	defer x.rows.mu.Unlock()
	have, now, err := x.rows.observe(ctx)
	if out.Others, out.now = now.Others, now; err != nil || len(now.Sessions)+len(have.entries) == 0 {
		return out, err
	}
	read := map[id.Session]Content{}
	all, err := x.rows.read(ctx, have, now, leave, func(ctx context.Context, s id.Session) ([]byte, bool, error) {
		c, err := x.Read(ctx, s)
		if read[s] = c; err != nil || !c.Keep {
			return nil, false, err
		}
		return encodeContent(c), true, nil
	})
	if err != nil {
		return out, err
	}
	out.Sessions = make([]Session, len(all))
	half := len(all) / 2
	var second sync.WaitGroup
	second.Go(func() { decodeEach(all[half:], read, out.Sessions[half:]) })
	decodeEach(all[:half], read, out.Sessions[:half])
	second.Wait()
	for i, e := range all {
		// It is sealed, so that only a fault of this package can write what is not decoded.
		if s := &out.Sessions[i]; e.kept && !s.Keep {
			if s.Content, err = x.Read(ctx, e.session); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// decodeEach sets the sessions of entries: what was read, or what was kept, without Keep where that is malformed.
func decodeEach(entries []*entry, read map[id.Session]Content, out []Session) {
	runs := make([]Run, 0, len(entries)+len(entries)/8)
	for i, e := range entries {
		s := &out[i]
		s.ID = e.session
		if c, ok := read[e.session]; ok {
			s.Content = c
			continue
		}
		from := len(runs)
		if e.kept && decodeContent(e.text, &s.Content, &runs) {
			s.Runs = runs[from:len(runs):len(runs)]
		} else {
			s.Content = Content{}
		}
	}
}

// encodeContent encodes what is kept of a session.
func encodeContent(c Content) []byte {
	var w Writer
	w.Int(c.Events)
	w.Bool(c.Marked)
	w.Count(len(c.Runs))
	for _, r := range c.Runs {
		run, tip := r.ID.Raw(), r.Tip.Raw()
		w.data = append(w.data, run[:]...)
		if w.Bool(!r.Tip.IsZero()); !r.Tip.IsZero() {
			w.data = append(w.data, tip[:]...)
		}
		w.Int(r.LastAtMs)
		w.Int(r.LastIndex)
		w.Bool(r.Open)
		w.Text(r.Row)
		w.Text(r.facts)
		w.Text(r.pending)
		w.Text(r.waits)
	}
	return w.Bytes()
}

// decodeContent decodes it, and adds the runs to a list of all.
func decodeContent(text string, c *Content, runs *[]Run) bool {
	in := NewReader(text)
	c.Events, c.Marked, c.Keep = in.Int(), in.Bool(), true
	for range in.Count(24) {
		var r Run
		r.ID = r.ID.OfRaw(in.id())
		if in.Bool() {
			r.Tip = r.Tip.OfRaw(in.id())
		}
		r.LastAtMs, r.LastIndex, r.Open = in.Int(), in.Int(), in.Bool()
		r.Row, r.facts, r.pending, r.waits = in.Text(), in.Text(), in.Text(), in.Text()
		*runs = append(*runs, r)
	}
	return in.Done()
}
