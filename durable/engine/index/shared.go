package index

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Shared is the catalogue of a store that keeps briefs in its commits. Sessions without a brief of their present
// logs are read, and their briefs kept. It is safe for concurrent use.
type Shared struct {
	briefs ports.Briefs
	onRead func(read, of int)
	Readers
}

var _ Catalogue = (*Shared)(nil)

// NewShared returns the catalogue of a store.
func NewShared(b ports.Briefs) *Shared { return &Shared{briefs: b, onRead: func(int, int) {}} }

// Of returns the catalogue of a store: the briefs of one that keeps them, in which case inCommits reports that appends carry
// them, or an index; nil for a store with neither.
func Of(store ports.Store) (x Catalogue, inCommits bool) {
	if b, ok := store.(ports.Briefs); ok {
		return NewShared(b), true
	}
	if states, ok := store.(ports.SessionStates); ok {
		return New(states, store), false
	}
	return nil, false
}

// Sessions implements Catalogue.
func (x *Shared) Sessions(ctx context.Context) (Listing, error) {
	return x.Select(ctx, ports.BriefQuery{})
}

// Select implements Catalogue.
func (x *Shared) Select(ctx context.Context, q ports.BriefQuery) (out Listing, err error) {
	all, err := x.briefs.Briefs(ctx, q)
	if err != nil {
		return out, err
	}
	out.Selected = q.Selects()
	out.Sessions = make([]Session, len(all))
	for i := range all {
		out.Sessions[i] = sessionOf(&all[i])
	}
	return out, x.readChanged(ctx, out.Sessions)
}

// readChanged reads those of sessions that changed, and keeps their briefs.
func (x *Shared) readChanged(ctx context.Context, all []Session) (err error) {
	changed, read := 0, 0
	for i := range all {
		if !all[i].Keep {
			changed++
		}
	}
	for i := range all {
		s := &all[i]
		if s.Keep {
			continue
		}
		x.onRead(read, changed)
		read++
		if s.Content, err = x.Read(ctx, s.ID); err != nil {
			return err
		}
		if s.Keep {
			_ = x.briefs.KeepBrief(ctx, s.ID, s.Heads.Events, s.Content.Brief()) // else it is read again
		}
	}
	return nil
}

// IsBounded implements Catalogue.
func (x *Shared) IsBounded() bool { return false }

// Each implements Catalogue.
func (x *Shared) Each(ctx context.Context, q ports.BriefQuery, visit func(*Session, *Run) error) error {
	var changed []Session
	var early []placed // the runs of what changed, which are passed where they are in the order
	before := func(r *Run) error {
		if changed != nil {
			if err := x.readChanged(ctx, changed); err != nil {
				return err
			}
			early, changed = ordered(changed), nil
		}
		for len(early) > 0 && (r == nil || compareRuns(early[0].run, r) < 0) {
			if err := visit(early[0].session, early[0].run); err != nil {
				return err
			}
			early = early[1:]
		}
		return nil
	}
	err := x.briefs.EachBrief(ctx, q, func(of *ports.BriefSession, kept *manifest.BriefRun) error {
		if kept == nil {
			changed = append(changed, Session{ID: of.Session})
			return nil
		}
		s, r, ok := contentOf(of), Run{}, false
		if r, ok = runOf(kept); !ok { // another version wrote it
			one := []Session{{ID: of.Session}}
			if err := x.readChanged(ctx, one); err != nil {
				return err
			}
			i := slices.IndexFunc(one[0].Runs, func(r Run) bool { return r.ID == kept.ID })
			if i < 0 {
				return nil
			}
			r, s = one[0].Runs[i], one[0]
			s.Runs = nil
		}
		if err := before(&r); err != nil {
			return err
		}
		return visit(&s, &r)
	})
	if err != nil {
		return err
	}
	return before(nil)
}

// Find implements Catalogue. Sessions that changed are not read.
func (x *Shared) Find(ctx context.Context, run string) ([]Session, error) {
	q := ports.BriefQuery{Run: run}
	if run == "" {
		q.Limit = 1
	}
	all, err := x.briefs.Briefs(ctx, q)
	out := make([]Session, len(all))
	for i := range all {
		out[i] = sessionOf(&all[i])
	}
	return out, err
}

// Words implements Catalogue: briefs have no words, so that a search reads each session.
func (x *Shared) Words(_ context.Context, l Listing) ([]Words, error) {
	out := make([]Words, len(l.Sessions))
	for i := range out {
		out[i].ID = l.Sessions[i].ID
	}
	return out, nil
}

// Logs implements Catalogue: nothing is kept, so that the disk usage reads each log.
func (x *Shared) Logs(context.Context,
	func(context.Context, id.Session) (text []byte, keep bool, err error)) (map[id.Session]string, error) {
	return nil, nil
}

// OnRead implements Catalogue.
func (x *Shared) OnRead(call func(read, of int)) { x.onRead = call }

// Forget implements Catalogue: a brief is part of its session in the store, and removed with it.
func (x *Shared) Forget(context.Context) {}

// sessionOf returns a session with what its brief says; Keep is false without one.
func sessionOf(b *ports.BriefSession) Session {
	s := Session{ID: b.Session}
	if b.Changed {
		return s
	}
	s = contentOf(b)
	for i := range b.Runs {
		r, ok := runOf(&b.Runs[i])
		if !ok { // another version wrote it
			return Session{ID: b.Session}
		}
		s.Runs = append(s.Runs, r)
	}
	return s
}

// contentOf returns a session without its runs.
func contentOf(b *ports.BriefSession) Session {
	return Session{ID: b.Session, Content: Content{Events: b.Head.Next, Marked: b.Marked, Keep: true}}
}

// Brief returns what a store keeps of the content.
func (c Content) Brief() manifest.Brief {
	b := manifest.Brief{Runs: make([]manifest.BriefRun, len(c.Runs))}
	if c.Heads != nil {
		b.Notes = c.Heads.Notes
	}
	for i, r := range c.Runs {
		var w Writer
		w.Count(BriefFormat)
		w.Text(r.Tip.String())
		w.Text(r.Row)
		w.Text(r.facts)
		w.Text(r.waits)
		f := r.Facts()
		b.Runs[i] = manifest.BriefRun{ID: r.ID, LastAtMs: r.LastAtMs, LastIndex: r.LastIndex, Open: r.Open, States: r.States,
			Workflow: f.WorkflowID, Branches: f.Branches, Pending: r.Pending(), Data: string(w.Bytes())}
	}
	return b
}

// BriefFormat is the number of the form of a brief. It is raised with every change of the form, or of the rules by which it is
// computed.
const BriefFormat = 2

// withoutWaits is the form of a brief that does not have what the inbox needs: of its sessions the inbox reads those with open runs.
const withoutWaits = 1

// runOf decodes a run; ok is false for one of another form.
func runOf(b *manifest.BriefRun) (r Run, ok bool) {
	in := NewReader(b.Data)
	format := in.unsigned()
	if format != BriefFormat && format != withoutWaits {
		return r, false
	}
	r = Run{ID: b.ID, LastAtMs: b.LastAtMs, LastIndex: b.LastIndex, Open: b.Open, States: b.States}
	if tip := in.Text(); tip != "" && r.Tip.UnmarshalString(tip) != nil {
		return r, false
	}
	if r.Row, r.facts = in.Text(), in.Text(); format != withoutWaits {
		r.waits = in.Text()
	}
	return r.WithPending(b.Pending), in.Done()
}
