// Package working hands out the runs of a store that keeps an index to performers: ports.Work, composed of what the
// index says of the runs and of the leases of sessions. It appends nothing, and performs nothing.
//
// Start reading at Work.Claim.
package working

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
)

// Work is the work of one store (docs/design.md#performing-runs). It is safe for concurrent use.
//
// It lists the runs, hands out one after the other, and lists them again when each was tried: a store is observed once for
// many claims. Which run comes first depends on a number of the process, so that processes that begin at
// the same time do not meet at each run.
type Work struct {
	list       func(context.Context) ([]lists.PendingRun, []views.Unreadable, error)
	read       func(context.Context, id.Session, id.Run) (unattended.State, error)
	performers ports.Performers
	order      uint64

	mu     sync.Mutex
	listed []lists.PendingRun // not tried since they were listed
}

var _ ports.Work = (*Work)(nil)

// New returns the work of a store. order decides in which order the runs are tried.
func New(l *lists.Lists, f *unattended.Finder, performers ports.Performers, order uint64) *Work {
	return &Work{list: func(ctx context.Context) ([]lists.PendingRun, []views.Unreadable, error) {
		return lists.PendingRuns(ctx, l)
	}, read: f.PendingOfRun, performers: performers, order: order}
}

// Claim implements ports.Work.
func (w *Work) Claim(ctx context.Context, q ports.WorkQuery) (ports.Claim, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, err := w.claimListed(ctx, q, &ports.Rest{}); err != nil || !c.Run.IsZero() {
		return c, err
	}
	var rest ports.Rest
	all, unreadable, err := w.list(ctx)
	if err != nil {
		return ports.Claim{}, err
	}
	for _, u := range unreadable {
		err := fault.New(fault.SessionUnhealthy, "%s", u.Message)
		if !u.SessionID.IsZero() {
			err.Suggest("Look at it with %s.", fault.Command{"verify", u.SessionID.String()})
		}
		rest.Left = append(rest.Left, ports.Left{Session: u.SessionID, Err: err})
	}
	sorting.By(all, func(a, b lists.PendingRun) int { return cmp.Compare(w.place(a.Run), w.place(b.Run)) })
	w.listed = all
	c, err := w.claimListed(ctx, q, &rest)
	if c.Run.IsZero() {
		c.Rest = rest
	}
	return c, err
}

// place orders runs, in each process in another way.
func (w *Work) place(run id.Run) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(run.String()), w.order))
	return h.Sum64()
}

// claimListed claims the first of the listed runs that can be claimed, and counts in rest why others cannot. Those that were
// tried are listed no more.
func (w *Work) claimListed(ctx context.Context, q ports.WorkQuery, rest *ports.Rest) (ports.Claim, error) {
	for len(w.listed) > 0 {
		if err := ctx.Err(); err != nil {
			return ports.Claim{}, err
		}
		next := w.listed[0]
		w.listed = w.listed[1:]
		if !isWanted(q, next.Pending) {
			continue
		}
		if next.AtMs > q.NowMs {
			if !next.Imported && (rest.NextAtMs == 0 || next.AtMs < rest.NextAtMs) {
				rest.NextAtMs = next.AtMs
			}
			continue
		}
		if at, passed := q.Passed[next.Run]; passed && at == next.LastIndex {
			continue
		}
		if next.Imported {
			rest.Left = append(rest.Left, ports.Left{Session: next.Session, Run: next.Run, Err: errImported()})
			continue
		}
		c, err := w.hold(ctx, q, next)
		switch {
		case err == nil && !c.Run.IsZero():
			return c, nil
		case err == nil:
		case ctx.Err() != nil:
			return c, ctx.Err()
		case fault.Is(err, fault.StoreReadOnly):
			return c, err
		case fault.Is(err, fault.RunBusy):
			rest.Busy++
		default:
			rest.Left = append(rest.Left, ports.Left{Session: next.Session, Run: next.Run, Err: err})
		}
	}
	return ports.Claim{}, nil
}

// hold takes the lease of a run's session and reads the run: what the list says of it may be over. The claim is zero for a
// run that is not to be performed now.
func (w *Work) hold(ctx context.Context, q ports.WorkQuery, next lists.PendingRun) (c ports.Claim, err error) {
	lease, err := w.performers.Hold(ctx, next.Session)
	if err != nil {
		return c, err
	}
	defer func() {
		if c.Run.IsZero() {
			_ = lease.Release()
		}
	}()
	state, err := w.read(ctx, next.Session, next.Run)
	at, passed := q.Passed[next.Run]
	switch {
	case err != nil && !fault.Is(err, fault.RunNotFound):
		return c, err
	case err != nil, state.Kind == manifest.NothingPending, state.Kind == manifest.HostPending, !isWanted(q, state.Pending),
		state.AtMs > q.NowMs, state.Imported, passed && at == state.LastIndex:
		return c, nil
	}
	return ports.Claim{Session: next.Session, Run: next.Run, LastIndex: state.LastIndex, Workflow: state.Workflow,
		Commands: state.Kind == manifest.CommandPending, Lease: lease}, nil
}

// isWanted reports that a query wants runs of which this is pending.
func isWanted(q ports.WorkQuery, p manifest.Pending) bool {
	if p.Kind == manifest.CommandPending && q.Without[p.Workflow] {
		return false
	}
	return len(q.Tags) == 0 || slices.ContainsFunc(p.Tags, func(tag string) bool { return slices.Contains(q.Tags, tag) })
}

// errImported is why an imported run is left: a bundle must not start commands (docs/design.md#commands-and-trust).
func errImported() error {
	return fault.New(fault.RunWaiting, "the run was imported, and no person has continued it here")
}
