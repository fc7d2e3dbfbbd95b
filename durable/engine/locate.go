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
	"github.com/waybill/waybill/projections/runs"
)

// Last is the reference to the run with the latest activity.
const Last = "@last"

// Locate finds a run by its id, a unique prefix of it (with or without "run_"),
// or @last, and returns its preferred tip (docs/design.md#tokens). Errors:
// RUN_NOT_FOUND, RUN_AMBIGUOUS.
func (g *Engine) Locate(ctx context.Context, ref string) (Position, error) {
	at, err := g.searchRun(ctx, ref)
	if err != nil {
		return Position{}, err
	}
	// Only a healthy fold is cached: a reading that continues from an unhealthy
	// one would not meet the damage before its head.
	if at.fold != nil && at.verdict.Health == manifest.Healthy {
		g.putFold(at.session, at.fold)
	}
	return Position{at.session, at.brief.RunID, at.brief.Tip}, nil
}

// foundRun is a run with the fold of its session, read from the beginning.
type foundRun struct {
	session id.Session
	run     *runs.Run
	fold    *runs.Fold
	verdict manifest.Verdict
}

// lookup finds a run and reads its whole session, as the use cases do that show
// history and health.
func (g *Engine) lookup(ctx context.Context, ref string) (foundRun, error) {
	found, err := g.searchRun(ctx, ref)
	if err != nil {
		return foundRun{}, err
	}
	if found.fold == nil || found.fold.Loaded {
		found.fold = runs.NewFold()
		if found.verdict, err = g.read(ctx, found.session, found.fold); err != nil {
			return foundRun{}, err
		}
	}
	at := foundRun{found.session, found.fold.Runs[found.brief.RunID], found.fold, found.verdict}
	if at.run == nil || at.run.Tip.IsZero() {
		return foundRun{}, runNotFound(ref, 1) // damage that a reading from a saved fold skips
	}
	return at, nil
}

// runMatch is a run that matched a reference. fold is nil when the brief in the
// session's head cache was sufficient.
type runMatch struct {
	session id.Session
	brief   runs.BriefRun
	fold    *runs.Fold
	verdict manifest.Verdict
}

// searchRun searches every session for a run, because a run id does not contain
// its session. A session that cannot be read does not hide runs in others; but
// @last is RUN_AMBIGUOUS then, since the latest run may be in it.
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
			// Run ids are unique in a store, so the search can end.
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
		// The latest run may be in what could not be read: what is meant for it
		// must not reach another.
		return runMatch{}, fault.New(fault.RunAmbiguous,
			"the last run cannot be determined: %s could not be read", sessionCount(unread)).
			Suggest("Name the run; 'waybill runs list' shows all runs.")
	}
	return at, nil
}

// cachedFirst moves the sessions whose folds this process holds to the front: a
// run named by its full id is usually in one of them, and the search ends
// there.
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

// sessionRuns returns the runs of a session: from its brief if nothing was
// committed since that was written, else by reading the session. ok is false if
// the session cannot be read.
func (g *Engine) sessionRuns(ctx context.Context, s id.Session, key *token.Key) (found []runs.BriefRun,
	at runMatch,
	ok bool) {
	at.session = s
	if b, ok := g.brief(ctx, s, key); ok {
		v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s), From: b.Head}, newSegmentProbe{})
		if err == nil && v.Health == manifest.Healthy {
			return b.Runs, at, true
		}
	}
	at.fold = runs.NewFold()
	v, err := g.readFromSaved(ctx, s, at.fold)
	if err != nil || v.Damaged() && len(at.fold.Order) == 0 {
		return nil, at, false
	}
	at.verdict = v
	return at.fold.Brief().Runs, at, true
}

// newSegmentProbe is a visitor that stops at the first segment: the reading
// ends with errStopReading if the log continues behind the given head.
type newSegmentProbe struct{}

// Reset implements ports.Visitor.
func (newSegmentProbe) Reset() {}

// Visit implements ports.Visitor.
func (newSegmentProbe) Visit(manifest.Segment, manifest.Head) error { return errStopReading }

// sessionCount is a number of sessions in words.
func sessionCount(n int) string {
	if n == 1 {
		return "one session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// isLater orders runs by stored time, then event index, then id, so that @last
// is the same run in every process.
func isLater(a, b runs.BriefRun) bool {
	return cmp.Or(cmp.Compare(a.LastAtMs, b.LastAtMs), cmp.Compare(a.LastIndex, b.LastIndex),
		cmp.Compare(b.RunID.String(), a.RunID.String())) > 0
}

// matchesPrefix reports whether ref is a prefix of the run's id, with or
// without "run_".
func matchesPrefix(r id.Run, ref string) bool {
	const prefix = "run_"
	return ref != "" && ref != prefix &&
		(strings.HasPrefix(r.String(), ref) || strings.HasPrefix(r.String(), prefix+ref))
}

// runNotFound is RUN_NOT_FOUND. With unread sessions it adds that the run may
// be in one of them.
func runNotFound(ref string, unread int) error {
	if unread > 0 {
		return fault.New(fault.RunNotFound,
			"no readable run has the id %q or one that begins with it; %s could not be read", ref,
			sessionCount(unread)).
			Suggest("See which with 'waybill runs list', and why with 'waybill verify'.")
	}
	if ref == Last {
		return fault.New(fault.RunNotFound, "the store has no runs yet").Suggest("Start one with 'waybill run FILE'.")
	}
	return fault.New(fault.RunNotFound, "no run has the id %q or one that begins with it", ref)
}
