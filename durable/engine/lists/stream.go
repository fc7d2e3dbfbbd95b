package lists

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// A catalogue in the store may have a million runs: what a page does not bound is read run by run, and little of it is held.

// isStreamed reports that the catalogue is read run by run.
func (o *Lists) isStreamed() bool { return o.index != nil && !o.index.IsBounded() }

// errEnough ends a reading of the catalogue.
var errEnough = errors.New("enough was read")

// each passes the runs that a query selects at least, in the order of a list. unreadable receives what cannot be read; nil: nothing does.
func (o *Lists) each(ctx context.Context, q ports.BriefQuery, unreadable *[]views.Unreadable, visit func(*listed) error) error {
	err := o.index.Each(ctx, q, func(s *index.Session, r *index.Run) error {
		if r != nil {
			run := *r
			return visit(&listed{Run: &run, session: s.ID})
		}
		if s.Problems == nil || unreadable == nil {
			return nil
		}
		var problems []views.Unreadable
		err := json.Unmarshal(s.Problems, &problems)
		*unreadable = append(*unreadable, problems...)
		return err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// stream is SelectRuns for a page that the catalogue does not bound: with filters that it does not know, or in another order.
func (o *Lists) stream(ctx context.Context, s Selection, q ports.BriefQuery) (RunPage, error) {
	out := RunPage{RunList: RunList{Runs: []views.RunSummary{}, Unreadable: []views.Unreadable{}}}
	if s.Text != "" {
		q = ports.BriefQuery{} // each run is read, and so it is counted which filter excludes it
	}
	all := best{s: s, behind: s.Cursor == ""}
	var err error
	switch {
	case s.Cursor == "":
	case s.Sort.isLatest():
		q.After, err = parsePlace(s.Cursor)
	default:
		err = o.cursorRow(ctx, s, &all)
	}
	if err != nil {
		return out, err
	}
	p, n := s.begin(out), counting{}
	err = o.each(ctx, q, &p.out.Unreadable, func(l *listed) error {
		if err := o.withNotes(ctx, s, l); err != nil {
			return err
		}
		if len(p.out.Runs) == 0 {
			if err := n.add(s, l); err != nil {
				return err
			}
		}
		if !s.Sort.isLatest() {
			return all.add(l)
		}
		more, err := p.add(l)
		if err == nil && !more {
			err = errEnough
		}
		return err
	})
	for _, l := range all.list() {
		if more, addErr := p.add(l); !more || addErr != nil {
			err = errors.Join(err, addErr)
			break
		}
	}
	if err != nil || len(p.out.Runs) > 0 || s.Cursor != "" {
		return p.out, err
	}
	if q.Selects() {
		n = counting{}
		err = o.each(ctx, ports.BriefQuery{}, nil, func(l *listed) error { return n.add(s, l) })
	}
	p.out.Excluded = n.excluded()
	return p.out, err
}

// withNotes reads the latest notes of a run, if a selection compares them and nothing else of the run has the text.
func (o *Lists) withNotes(ctx context.Context, s Selection, l *listed) error {
	if s.Text == "" {
		return nil
	}
	row, _, err := l.full()
	if err != nil || !slices.Contains(s.missed(row, l), ByText) {
		return err
	}
	read := o.readSession(ctx, l.session)
	for i := range read.runs {
		if read.runs[i].ID == l.ID {
			l.notes = read.notes[i]
		}
	}
	return ctx.Err()
}

// best are the first runs behind a cursor, in an order that is not that of the catalogue.
type best struct {
	s      Selection
	after  views.RunSummary // the run of the cursor
	behind bool             // there is no cursor
	all    []*listed
}

// cursorRow finds the run of a cursor.
func (o *Lists) cursorRow(ctx context.Context, s Selection, to *best) error {
	run, err := s.Sort.cursorRun(s.Cursor)
	if err != nil {
		return err
	}
	found := false
	err = o.each(ctx, ports.BriefQuery{Run: run}, nil, func(l *listed) (err error) {
		if l.ID.String() == run {
			found = true
			to.after, _, err = l.full()
		}
		return err
	})
	if err == nil && !found {
		err = fault.New(fault.ValidationError, "the run of the cursor %q is not in the store any more", s.Cursor).
			Suggest("Start again without a cursor.")
	}
	return err
}

// add adds a run, if it is selected.
func (b *best) add(l *listed) error {
	row, _, err := l.full()
	if err != nil || b.s.selects() && len(b.s.missed(row, l)) > 0 || !b.behind && b.s.Sort.compare(b.after, row) >= 0 {
		return err
	}
	l.row = &row
	if b.all = append(b.all, l); len(b.all) > 2*b.most() {
		b.list()
	}
	return nil
}

// most is how many runs a page has at most, and the one behind it.
func (b *best) most() int {
	if b.s.Limit > 0 {
		return min(b.s.Limit, pageRunsMax) + 1
	}
	return pageRunsMax + 1
}

// list returns the first runs.
func (b *best) list() []*listed {
	slices.SortFunc(b.all, func(x, y *listed) int { return b.s.Sort.compare(*x.row, *y.row) })
	b.all = b.all[:min(len(b.all), b.most())]
	return b.all
}

// searchEach passes the runs of the store to a search, in the order of a list, until that has enough.
func (o *Lists) searchEach(ctx context.Context, unreadable *[]views.Unreadable, visit func(*listed) (more bool, err error)) error {
	return o.each(ctx, ports.BriefQuery{}, unreadable, func(l *listed) error {
		more, err := visit(l)
		if err == nil && !more {
			err = errEnough
		}
		return err
	})
}

// hitsOf are the hits in the session that was searched last, by run.
type hitsOf struct {
	session id.Session
	hits    map[id.Run][]Hit
}
