package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Last names the run with the latest activity.
const Last = "@last"

// Locate finds a run by its id, a unique prefix of it, or @last, and answers
// with its preferred tip (R25).
func (g *Engine) Locate(ctx context.Context, ref string) (Position, error) {
	at, err := g.searchRun(ctx, ref)
	if err != nil {
		return Position{}, err
	}
	// Whoever read on from the fold of an unhealthy log would not meet again what is
	// wrong before it.
	if at.fold != nil && at.verdict.Health == manifest.Healthy {
		g.putFold(at.session, at.fold)
	}
	return Position{at.session, at.brief.RunID, at.brief.Tip}, nil
}

// located is a run with the reading of its session, from the beginning.
type foundRun struct {
	session id.Session
	run     *projections.Run
	fold    *projections.Fold
	verdict manifest.Verdict
}

// lookup finds a run and reads all of its session: what is shown of a run is its
// history, and how healthy that is.
func (g *Engine) lookup(ctx context.Context, ref string) (foundRun, error) {
	found, err := g.searchRun(ctx, ref)
	if err != nil {
		return foundRun{}, err
	}
	if found.fold == nil || found.fold.Loaded {
		found.fold = projections.NewFold()
		if found.verdict, err = g.read(ctx, found.session, found.fold); err != nil {
			return foundRun{}, err
		}
	}
	at := foundRun{found.session, found.fold.Runs[found.brief.RunID], found.fold, found.verdict}
	if at.run == nil || at.run.Tip.IsZero() {
		return foundRun{}, runNotFound(ref, 1) // damage that reading on from a saved fold does not meet
	}
	return at, nil
}

// sighted is a run as it was found. The fold is what was read of its session, nil
// where the session's brief sufficed.
type runMatch struct {
	session id.Session
	brief   projections.BriefRun
	fold    *projections.Fold
	verdict manifest.Verdict
}

// seek looks for a run in every session, since runs carry no sign of theirs.
func (g *Engine) searchRun(ctx context.Context, ref string) (at runMatch, err error) {
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return at, err
	}
	if _, err := id.ParseRun(ref); err == nil {
		g.cachedFirst(all)
	}
	key := g.headKey(ctx)
	found, unread := 0, 0
	for _, s := range all {
		runs, this, ok := g.sessionRuns(ctx, s, key)
		if !ok {
			unread++ // one unreadable session must not hide the others
			continue
		}
		for _, this.brief = range runs {
			runID := this.brief.RunID
			switch {
			case runID.String() == ref:
				return this, nil
			case ref == Last && (at.session.IsZero() || isLater(this.brief, at.brief)):
				at = this
			case ref != Last && matchesPrefix(runID, ref):
				at = this
				found++
			}
		}
	}
	switch {
	case found > 1:
		return runMatch{}, fault.New(fault.RunAmbiguous, "%d runs begin with %q", found, ref)
	case at.brief.Tip.IsZero():
		return runMatch{}, runNotFound(ref, unread)
	case ref == Last && unread > 0:
		// The latest run may be in what could not be read: what is meant for it must
		// not reach another.
		return runMatch{}, fault.New(fault.RunAmbiguous,
			"which run is the last one cannot be told: %s could not be read", sessionCount(unread)).
			Suggest("Name the run; 'waybill runs list' shows which there are.")
	}
	return at, nil
}

// recentFirst puts the sessions that this process works with in front: a run that is
// named exactly is mostly in one of them.
func (g *Engine) cachedFirst(all []id.Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	front := 0
	for i, s := range all {
		if _, ok := g.folds[s]; ok {
			all[front], all[i] = all[i], all[front]
			front++
		}
	}
}

// sight tells which runs a session has: by its brief, where nothing was committed
// since that was written, else by reading it.
func (g *Engine) sessionRuns(ctx context.Context, s id.Session, key *token.Key) (runs []projections.BriefRun,
	at runMatch,
	ok bool) {
	at.session = s
	if b, ok := g.brief(ctx, s, key); ok {
		v, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(s), From: b.Head}, newSegmentProbe{})
		if err == nil && v.Health == manifest.Healthy {
			return b.Runs, at, true
		}
	}
	at.fold = projections.NewFold()
	v, err := g.readFromSaved(ctx, s, at.fold)
	if err != nil || v.Damaged() && len(at.fold.Order) == 0 {
		return nil, at, false
	}
	at.verdict = v
	return at.fold.Brief().Runs, at, true
}

// nothingMore is a visitor that wants to know whether anything follows.
type newSegmentProbe struct{}

// Reset has nothing to forget.
func (newSegmentProbe) Reset() {}

// Visit ends the reading.
func (newSegmentProbe) Visit(manifest.Segment, manifest.Head) error { return errStopReading }

func sessionCount(n int) string {
	if n == 1 {
		return "one session"
	}
	return fmt.Sprintf("%d sessions", n)
}

func isLater(a, b projections.BriefRun) bool {
	return cmp.Or(cmp.Compare(a.LastAtMs, b.LastAtMs), cmp.Compare(a.LastIndex, b.LastIndex),
		cmp.Compare(b.RunID.String(), a.RunID.String())) > 0
}

// matches accepts a prefix with or without "run_".
func matchesPrefix(r id.Run, ref string) bool {
	const prefix = "run_"
	return ref != "" && ref != prefix &&
		(strings.HasPrefix(r.String(), ref) || strings.HasPrefix(r.String(), prefix+ref))
}

// notFound says so, and that the run may be in a session that could not be read.
func runNotFound(ref string, unread int) error {
	if unread > 0 {
		return fault.New(fault.RunNotFound, "no run that could be read is called %q; %s could not be read", ref,
			sessionCount(unread)).
			Suggest("See which with 'waybill runs list', and why with 'waybill verify'.")
	}
	if ref == Last {
		return fault.New(fault.RunNotFound, "the store holds no run yet").Suggest("Start one with 'waybill run FILE'.")
	}
	return fault.New(fault.RunNotFound, "no run is called %q, and none begins with it", ref)
}
