package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine/index"
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
// or @last, and returns its preferred tip (docs/design.md#tokens). Capital letters
// of an id are read as small ones. Errors: RUN_NOT_FOUND, which says what else the
// reference is, and RUN_AMBIGUOUS.
func (r *Reader) Locate(ctx context.Context, ref string) (Position, error) {
	ref = id.Typed(ref)
	at, err := Search(r.source, func() (runMatch, error) { return r.searchRun(ctx, ref, r.Index) })
	if err != nil {
		return Position{}, explain(ctx, r, ref, err)
	}
	// Only a healthy fold is cached: a reading that continues from an unhealthy
	// one would not meet the damage before its head.
	if at.history != nil && at.verdict.Health == manifest.Healthy {
		at.history.Keep()
	}
	return Position{at.session, at.brief.RunID, at.brief.Tip}, nil
}

// FoundRun is a run with the history of its session, read from the beginning.
type FoundRun struct {
	*History
	Run     *runs.Run
	Verdict manifest.Verdict
}

// Lookup finds a run and reads its whole session, as the use cases do that show
// history and health. Errors as of Locate.
func (r *Reader) Lookup(ctx context.Context, ref string) (FoundRun, error) {
	return lookup(ctx, r, ref, r.Index)
}

// lookup is Lookup by an index; nil: every session is read.
func lookup(ctx context.Context, r *Reader, ref string, x index.Catalogue) (FoundRun, error) {
	ref = id.Typed(ref)
	found, err := Search(r.source, func() (runMatch, error) { return searchPlaces(ctx, r, ref, x) })
	if err != nil {
		return FoundRun{}, explain(ctx, r, ref, err)
	}
	h, v := found.history, found.verdict
	if h == nil || h.Fold.Loaded || h.Fold.Partial() {
		h = r.NewHistory(found.session)
		if v, err = h.Read(ctx); err != nil {
			return FoundRun{}, err
		}
		claimed, _ := r.Brief(ctx, found.session, r.HeadKey(ctx))
		v = LostTail(h.Log, v, claimed.Head)
	}
	out := FoundRun{h, h.Fold.Runs[found.brief.RunID], v}
	if out.Run == nil || out.Run.Tip.IsZero() {
		return FoundRun{}, runNotFound(ref, 1) // damage that a reading from a saved fold skips
	}
	return out, nil
}

// ResolveSession returns the session that a session id, a unique prefix of it, or a
// reference to one of its runs, names. Errors: SESSION_NOT_FOUND, RUN_NOT_FOUND,
// RUN_AMBIGUOUS. It does not use the index: what is verified must not be chosen by file times.
func (r *Reader) ResolveSession(ctx context.Context, ref string) (id.Session, error) {
	ref = id.Typed(ref)
	all, err := r.Sessions(ctx)
	if err != nil {
		return id.Session{}, err
	}
	if s, err := id.ParseSession(ref); err == nil {
		if slices.Contains(all, s) {
			return s, nil
		}
		return s, fault.New(fault.SessionNotFound, "the store holds no session %s", s)
	}
	at, err := lookup(ctx, r, ref, nil)
	if fault.Is(err, fault.RunNotFound) {
		if s, ok, _ := findSession(all, ref); ok {
			return s, nil
		}
	}
	if err != nil {
		return id.Session{}, err
	}
	return at.Session, nil
}

// runMatch is a run that matched a reference. history is nil when the brief in
// the session's head cache was sufficient.
type runMatch struct {
	session id.Session
	brief   runs.BriefRun
	history *History
	verdict manifest.Verdict
	kept    bool // named by the index, and not read
}

// searchRun searches every session for a run, because a run id does not contain
// its session. A session that cannot be read does not hide runs in others; but
// @last is RUN_AMBIGUOUS then, since the latest run may be in it.
func (r *Reader) searchRun(ctx context.Context, ref string, x index.Catalogue) (at runMatch, err error) {
	at, err = searchPlaces(ctx, r, ref, x)
	if err != nil || !at.kept {
		return at, err
	}
	return confirmed(ctx, r, at, r.HeadKey(ctx))
}

// searchPlaces is searchRun, without reading the session of a run that the index names.
func searchPlaces(ctx context.Context, r *Reader, ref string, x index.Catalogue) (at runMatch, err error) {
	if at, ok := r.atHome(ctx, ref); ok {
		return at, nil
	}
	all, err := places(ctx, r, ref, x)
	if err != nil {
		return at, err
	}
	key := r.HeadKey(ctx)
	var matches []string
	unread := 0
	for _, place := range all {
		s := place.ID
		found, this, ok := placeRuns(ctx, r, place, key)
		if !ok {
			unread++ // one unreadable session must not hide the others
			continue
		}
		for _, this.brief = range found {
			runID := this.brief.RunID
			switch {
			// Run ids are unique in a store, so the search can end.
			case runID.String() == ref:
				r.NoteHome(runID, s)
				return this, nil
			case ref == Last && (at.session.IsZero() || isLater(this.brief, at.brief)):
				at = this
			case ref != Last && MatchesPrefix(runID, ref):
				at = this
				matches = append(matches, runID.String())
			}
		}
	}
	switch {
	case len(matches) > 1:
		return runMatch{}, Ambiguous("runs", ref, matches)
	case at.brief.Tip.IsZero():
		return runMatch{}, runNotFound(ref, unread)
	case ref == Last && unread > 0:
		// The latest run may be in what could not be read: what is meant for it
		// must not reach another.
		return runMatch{}, fault.New(fault.RunAmbiguous,
			"the last run cannot be determined: %s could not be read", sessionCount(unread)).
			Suggest("Name the run; %s shows all runs.", fault.Command{"runs", "list"})
	}
	return at, nil
}

// places are the sessions in which a run is searched, with what the index keeps of them.
func places(ctx context.Context, r *Reader, ref string, x index.Catalogue) ([]index.Session, error) {
	if x != nil {
		return x.Find(ctx, wantedRun(ref))
	}
	all, err := r.Sessions(ctx)
	if _, notRun := id.ParseRun(ref); notRun == nil {
		r.cachedFirst(all)
	}
	out := make([]index.Session, len(all))
	for i, s := range all {
		out[i].ID = s
	}
	return out, err
}

// wantedRun is what the ids of the runs that a reference may mean begin with, "" for the latest run.
func wantedRun(ref string) string {
	if ref == Last {
		return ""
	}
	const kind = "run_"
	if strings.HasPrefix(kind, ref) { // any id begins with it, or with it after the kind
		return kind
	}
	return kind + strings.TrimPrefix(ref, kind)
}

// placeRuns returns the runs of a session: those that the index keeps, else those of sessionRuns.
func placeRuns(ctx context.Context, r *Reader, place index.Session, key *token.Key) (found []runs.BriefRun, at runMatch,
	ok bool) {
	if !place.Keep {
		return r.sessionRuns(ctx, place.ID, key)
	}
	for _, run := range place.Runs {
		found = append(found, runs.BriefRun{RunID: run.ID, Tip: run.Tip, LastAtMs: run.LastAtMs, LastIndex: run.LastIndex})
	}
	return found, runMatch{session: place.ID, kept: true}, true
}

// confirmed reads the session of a run that the index named: file times are no evidence
// (docs/design.md#index).
func confirmed(ctx context.Context, r *Reader, at runMatch, key *token.Key) (runMatch, error) {
	if !at.kept {
		return at, nil
	}
	found, now, ok := r.sessionRuns(ctx, at.session, key)
	i := slices.IndexFunc(found, func(b runs.BriefRun) bool { return b.RunID == at.brief.RunID })
	if !ok || i < 0 {
		return runMatch{}, runNotFound(at.brief.RunID.String(), 1)
	}
	now.brief = found[i]
	return now, nil
}

// atHome looks for a run in the session in which it was found before, without listing the sessions of the store.
func (r *Reader) atHome(ctx context.Context, ref string) (at runMatch, ok bool) {
	run, err := id.ParseRun(ref)
	if err != nil {
		return at, false
	}
	r.mu.Lock()
	home, known := r.homes[run]
	r.mu.Unlock()
	if !known {
		return at, false
	}
	found, at, ok := r.sessionRuns(ctx, home, r.HeadKey(ctx))
	i := slices.IndexFunc(found, func(b runs.BriefRun) bool { return b.RunID == run })
	if !ok || i < 0 {
		return at, false
	}
	at.brief = found[i]
	return at, true
}

// cachedFirst moves the sessions whose folds this process holds to the front: a
// run named by its full id is usually in one of them, and the search ends
// there.
func (r *Reader) cachedFirst(all []id.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	front := 0
	for i, s := range all {
		if _, ok := r.folds[s]; ok {
			all[front], all[i] = all[i], all[front]
			front++
		}
	}
}

// sessionRuns returns the runs of a session: from its brief if nothing was
// committed since that was written, else by reading the session. ok is false if
// the session cannot be read. key is that of HeadKey.
func (r *Reader) sessionRuns(ctx context.Context, s id.Session, key *token.Key) (found []runs.BriefRun, at runMatch,
	ok bool) {
	at.session = s
	if b, ok := r.Brief(ctx, s, key); ok && r.EndsAt(ctx, manifest.SessionEvents(s), b.Head) {
		return b.Runs, at, true
	}
	at.history = r.NewHistory(s)
	at.history.windowed = true
	v, err := at.history.ReadSaved(ctx)
	if err != nil || v.Damaged() && len(at.history.Fold.Order) == 0 {
		return nil, at, false
	}
	at.verdict = v
	return at.history.Fold.Brief().Runs, at, true
}

// SessionRuns returns the runs of a session; ok is false if it cannot be read.
// key is that of HeadKey.
func (r *Reader) SessionRuns(ctx context.Context, s id.Session, key *token.Key) (found []runs.BriefRun, ok bool) {
	found, _, ok = r.sessionRuns(ctx, s, key)
	return found, ok
}

// EndsAt reports whether a log is healthy and has nothing behind a head.
func (r *Reader) EndsAt(ctx context.Context, log manifest.Log, head manifest.Head) bool {
	v, err := r.source.Read(ctx, ports.ReadRequest{Log: log, From: head}, StopAtFirst)
	return err == nil && v.Health == manifest.Healthy
}

// StopAtFirst is the visitor of a reading that ends with ErrStopReading if the log
// continues behind the given head.
var StopAtFirst = ports.Each(func(manifest.Segment, manifest.Head) error { return ErrStopReading })

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
		b.RunID.Compare(a.RunID)) > 0
}

// MatchesPrefix reports whether ref is a prefix of the run's id, with or
// without "run_".
func MatchesPrefix(run id.Run, ref string) bool {
	return hasPrefix(run.String(), "run_", ref)
}

// runNotFound is RUN_NOT_FOUND. With unread sessions it adds that the run may
// be in one of them.
func runNotFound(ref string, unread int) error {
	if unread > 0 {
		return fault.New(fault.RunNotFound,
			"no readable run has the id %q or one that begins with it; %s could not be read", ref,
			sessionCount(unread)).
			Suggest("See which with %s, and why with %s.", fault.Command{"runs", "list"}, fault.Command{"verify"})
	}
	if ref == Last {
		return fault.New(fault.RunNotFound, "the store has no runs yet").
			Suggest("Start one with %s.", fault.Command{"run", "FILE"})
	}
	return fault.New(fault.RunNotFound, "no run has the id %q or one that begins with it", ref)
}
