package lists

import (
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// PendingOf returns what a performer that asks no person needs to know of a run. It must be a function of the files that the
// index observes.
type PendingOf func(context.Context, id.Session, *runs.Fold, *runs.Run) (manifest.Pending, error)

// FindPending makes the lists find what is pending of each run with a function. It is called before they are used.
func (o *Lists) FindPending(of PendingOf) {
	o.pending = func(ctx context.Context, s id.Session, fold *runs.Fold, r *runs.Run) (manifest.Pending, error) {
		p, err := of(ctx, s, fold, r)
		if p.Kind == manifest.HostPending {
			return manifest.Pending{}, err // it depends on the settings of the store, and the host knows its runs
		}
		return p, err
	}
}

// WaitsOf returns what the inbox needs to know of an open run. It must be a function of the files that the index observes.
type WaitsOf func(context.Context, id.Session, *runs.Fold, views.RunSummary) (string, error)

// FindWaits makes the lists keep what the inbox needs to know of each open run. It is called before they are used.
func (o *Lists) FindWaits(of WaitsOf) { o.waits = of }

// PendingRun is a run of which something is pending that a performer does without a person.
type PendingRun struct {
	Session   id.Session
	Run       id.Run
	LastIndex int64 // of the run's last activity
	manifest.Pending
}

// PendingRuns returns the runs of a store of which a command, a wait or the end is pending, as they were read last, in
// the order of Runs, and the sessions that cannot be read. The errors are those of Runs.
func PendingRuns(ctx context.Context, o *Lists) (out []PendingRun, unreadable []views.Unreadable, err error) {
	_, err = session.Whole(o.store, func() (struct{}, error) {
		all, damaged, _, err := o.listed(ctx, false, ports.BriefQuery{Pending: true})
		out, unreadable = nil, damaged
		for _, l := range all {
			if p := l.Pending(); p.Kind != manifest.NothingPending {
				out = append(out, PendingRun{l.session, l.ID, l.LastIndex, p})
			}
		}
		return struct{}{}, err
	})
	return out, unreadable, err
}
