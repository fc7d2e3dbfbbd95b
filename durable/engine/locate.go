package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/projections"
)

// Last names the run with the latest activity.
const Last = "@last"

// Locate finds a run by its id, a unique prefix of it, or @last, and answers
// with its preferred tip (R25).
func (g *Engine) Locate(ctx context.Context, ref string) (Position, error) {
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return Position{}, err
	}
	// Whoever read on from the fold of an unhealthy log would not meet again what is
	// wrong before it.
	if at.verdict.Health == manifest.Healthy {
		g.keep(at.session, at.fold)
	}
	return Position{at.session, at.run.ID, at.run.Tip}, nil
}

// located is a run with the reading of its session that it was found in.
type located struct {
	session id.Session
	run     *projections.Run
	fold    *projections.Fold
	verdict manifest.Verdict
}

// lookup reads every session for the run, since runs carry no sign of theirs.
func (g *Engine) lookup(ctx context.Context, ref string) (at located, err error) {
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return at, err
	}
	found, unread := 0, 0
	for _, s := range all {
		f := projections.NewFold()
		v, err := g.read(ctx, s, f)
		if err != nil || v.Damaged() && len(f.Order) == 0 {
			unread++ // one unreadable session must not hide the others
			continue
		}
		for _, runID := range f.Order {
			this := located{s, f.Runs[runID], f, v}
			switch {
			case runID.String() == ref:
				return this, nil
			case ref == Last && (at.run == nil || later(this.run, at.run)):
				at = this
			case ref != Last && matches(runID, ref):
				at = this
				found++
			}
		}
	}
	switch {
	case found > 1:
		return located{}, fault.New(fault.RunAmbiguous, "%d runs begin with %q", found, ref)
	case at.run == nil || at.run.Tip.IsZero():
		return located{}, notFound(ref, unread)
	case ref == Last && unread > 0:
		// The latest run may be in what could not be read: what is meant for it must
		// not reach another.
		return located{}, fault.New(fault.RunAmbiguous, "which run is the last one cannot be told: %s could not be read", sessions(unread)).
			Suggest("Name the run; 'waybill runs list' shows which there are.")
	}
	return at, nil
}

func sessions(n int) string {
	if n == 1 {
		return "one session"
	}
	return fmt.Sprintf("%d sessions", n)
}

func later(a, b *projections.Run) bool {
	return cmp.Or(cmp.Compare(a.LastAtMs, b.LastAtMs), cmp.Compare(a.LastIndex, b.LastIndex), cmp.Compare(b.ID.String(), a.ID.String())) > 0
}

// matches accepts a prefix with or without "run_".
func matches(r id.Run, ref string) bool {
	const prefix = "run_"
	return ref != "" && ref != prefix && (strings.HasPrefix(r.String(), ref) || strings.HasPrefix(r.String(), prefix+ref))
}

// notFound says so, and that the run may be in a session that could not be read.
func notFound(ref string, unread int) error {
	if unread > 0 {
		return fault.New(fault.RunNotFound, "no run that could be read is called %q; %s could not be read", ref, sessions(unread)).
			Suggest("See which with 'waybill runs list', and why with 'waybill verify'.")
	}
	if ref == Last {
		return fault.New(fault.RunNotFound, "the store holds no run yet").Suggest("Start one with 'waybill run FILE'.")
	}
	return fault.New(fault.RunNotFound, "no run is called %q, and none begins with it", ref)
}
