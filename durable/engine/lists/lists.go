// Package lists lists the runs of a store, and pages and selections of them (docs/design.md#index). It appends
// nothing. Start reading at Lists.Runs.
package lists

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Lists lists the runs of one store. It is safe for concurrent use.
type Lists struct {
	r     *session.Reader
	store views.Source
	views *views.Views
	index index.Catalogue // nil: lists read every session
	// pending is what FindPending was called with; nil: nothing is pending of any run.
	pending PendingOf
	// waits is what FindWaits was called with; nil: the inbox reads each session.
	waits WaitsOf
}

// New returns the lists of what r reads, which is s.
func New(r *session.Reader, s views.Source, v *views.Views) *Lists {
	return &Lists{r: r, store: s, views: v}
}

// RunList is the document "runs", ordered by the stored time of each run's last
// event, the latest first. Sessions that cannot be read are listed in
// Unreadable and never left out.
type RunList struct {
	Runs       []views.RunSummary `json:"runs"`
	Unreadable []views.Unreadable `json:"unreadable"`
}

// Runs lists the runs of the store. A damaged session contributes the runs of
// its valid prefix. The only errors are those of listing sessions, and STORE_IO if
// the process had no file descriptor left for one of them.
func (o *Lists) Runs(ctx context.Context) (RunList, error) {
	return session.Whole(o.store, func() (RunList, error) { return o.runs(ctx) })
}

// runs is Runs, with unreadable sessions where no file descriptor was left.
func (o *Lists) runs(ctx context.Context) (RunList, error) {
	all, unreadable, _, err := o.listed(ctx, false, ports.BriefQuery{})
	out := RunList{Runs: make([]views.RunSummary, len(all)), Unreadable: unreadable}
	for i := range all {
		if err == nil {
			out.Runs[i], _, err = all[i].full()
		}
	}
	return out, err
}

// listed returns at least the runs of the store that a query selects, in the order of a list, and what could not be read. The
// notes of runs are kept for a selection by text only: they may be long, and the catalogue has none.
func (o *Lists) listed(ctx context.Context, text bool, q ports.BriefQuery) (order []*listed, unreadable []views.Unreadable, of index.Listing,
	err error) {
	var all []listed
	of.Others = true
	if o.index != nil && !text {
		all, unreadable, of, err = o.fromIndex(ctx, q)
	} else {
		all, unreadable, err = o.fromSessions(ctx, text)
	}
	if err != nil {
		return nil, unreadable, of, err
	}
	// Directories with other names may be sessions of another program.
	var names []string
	if of.Others {
		if names, err = o.store.UnknownEntries(ctx); err != nil {
			return nil, unreadable, of, err
		}
	}
	for _, name := range names {
		unreadable = append(unreadable, views.Unreadable{Name: name, Health: manifest.UnknownVersion,
			Message: "the name of its directory is not a session id, and it was not read"})
	}
	order = make([]*listed, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortFunc(order, func(a, b *listed) int {
		switch { // no cmp.Or: most times differ, and ids take longer to compare
		case a.LastAtMs != b.LastAtMs:
			return cmp.Compare(b.LastAtMs, a.LastAtMs)
		case a.LastIndex != b.LastIndex:
			return cmp.Compare(b.LastIndex, a.LastIndex)
		}
		return cmp.Or(a.ID.Compare(b.ID), a.session.Compare(b.session))
	})
	return order, unreadable, of, nil
}

// fromSessions reads every session.
func (o *Lists) fromSessions(ctx context.Context, text bool) (all []listed, unreadable []views.Unreadable, err error) {
	sessions, err := o.store.Sessions(ctx)
	unreadable = []views.Unreadable{}
	for _, s := range sessions {
		read := o.readSession(ctx, s)
		unreadable = append(unreadable, read.unreadable...)
		for i := range read.rows {
			l := listed{Run: &read.runs[i], session: s, row: &read.rows[i], facts: &read.facts[i]}
			if text {
				l.notes = read.notes[i]
			}
			all = append(all, l)
		}
	}
	return all, unreadable, err
}

// fromIndex reads the sessions that changed since they were read last.
func (o *Lists) fromIndex(ctx context.Context, q ports.BriefQuery) (all []listed, unreadable []views.Unreadable, of index.Listing, err error) {
	of, err = o.index.Select(ctx, q)
	unreadable = []views.Unreadable{}
	all = make([]listed, 0, len(of.Sessions))
	for i := range of.Sessions {
		s := &of.Sessions[i]
		for k := range s.Runs {
			all = append(all, listed{Run: &s.Runs[k], session: s.ID})
		}
		var problems []views.Unreadable
		if s.Problems != nil {
			err = cmp.Or(err, json.Unmarshal(s.Problems, &problems))
		}
		unreadable = append(unreadable, problems...)
	}
	return all, unreadable, of, err
}

// latestFirst is the order of a RunList.
func latestFirst(a, b views.RunSummary) int {
	return cmp.Or(cmp.Compare(b.LastAtMs, a.LastAtMs),
		cmp.Compare(b.LastActivityEventIndex, a.LastActivityEventIndex),
		a.RunID.Compare(b.RunID))
}

// notesOf returns the latest notes on the path to the preferred tip of a run, "" without any.
func notesOf(r *runs.Run) string {
	recap, _ := r.RecapOnPath(r.Tip)
	return recap.Payload.NotesMarkdown
}
