package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// DeleteRequest requests to move sessions to the trash.
type DeleteRequest struct {
	// Refs are session ids, run ids, prefixes of run ids, or @last.
	Refs   []string
	Reason string
}

// DeletedSessions is the document "deleted": the sessions that were moved to
// the trash, or removed from it.
type DeletedSessions struct {
	Sessions []TrashedSession `json:"sessions"`
}

// TrashedSession is a session in the trash.
type TrashedSession struct {
	// Name is the directory in the trash; 'sessions restore' accepts it.
	Name        string     `json:"name"`
	SessionID   id.Session `json:"sessionId"`
	TrashedAtMs int64      `json:"trashedAtMs"`
	Note        *Note      `json:"note,omitzero"`
	Runs        []RunName  `json:"runs"`
}

// RunName identifies a run to a user.
type RunName struct {
	RunID      id.Run `json:"runId"`
	WorkflowID string `json:"workflowId"`
	Title      string `json:"title"`
}

// Deletable resolves the sessions that a request names, each once, so that a
// caller can show them before it asks for confirmation. It changes nothing.
// Errors: SESSION_NOT_FOUND, RUN_NOT_FOUND, RUN_AMBIGUOUS, SESSION_KEPT.
func (g *Engine) Deletable(ctx context.Context, req DeleteRequest) ([]SessionRow, error) {
	var rows []SessionRow
	for _, ref := range req.Refs {
		s, err := g.resolveSession(ctx, ref)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rows, func(r SessionRow) bool { return r.SessionID == s }) {
			continue
		}
		if err := g.checkNotKept(ctx, s); err != nil {
			return nil, err
		}
		rows = append(rows, g.sessionRow(ctx, s))
	}
	return rows, nil
}

// DeleteSessions moves sessions to the trash, healthy or not. All of them are
// resolved before the first one is moved; if moving one fails, those before it
// remain in the trash and are in the result. Each is one audited act.
func (g *Engine) DeleteSessions(ctx context.Context, by Caller, req DeleteRequest) (DeletedSessions, error) {
	out := DeletedSessions{Sessions: []TrashedSession{}}
	rows, err := g.Deletable(ctx, req)
	if err != nil {
		return out, err
	}
	// Validated before the first act is recorded.
	n, err := newNote(by, req.Reason)
	if err != nil {
		return out, err
	}
	for _, row := range rows {
		what := audit.Act{Action: audit.Delete, Target: audit.Target{Kind: audit.OfSession, ID: row.SessionID.String()},
			Reason: n.Reason}
		err := g.act(ctx, by, what, func() (map[string]string, error) {
			t, err := g.moveToTrash(ctx, row.SessionID, n, func() error { return g.checkNotKept(ctx, row.SessionID) })
			if err == nil {
				out.Sessions = append(out.Sessions, TrashedSession{t.Name, t.Session, t.AtMs, &n, row.Runs})
			}
			return map[string]string{"trash": t.Name}, err
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// moveToTrash moves a session to the trash and drops what is cached of it.
// unless is called under the session's locks; its error prevents the move.
func (g *Engine) moveToTrash(ctx context.Context, s id.Session, n Note, unless func() error) (ports.TrashEntry, error) {
	t, err := g.Trash.Discard(ctx, s, n.AtMs, n.data(), unless)
	if err == nil {
		g.dropCached(s)
	}
	return t, err
}

// dropCached forgets the fold and the durable head of a session whose log was
// moved or replaced.
func (g *Engine) dropCached(s id.Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.folds, s)
	delete(g.durable, s.String())
}

// Trashed lists the content of the trash, the latest deletion first.
func (g *Engine) Trashed(ctx context.Context) ([]TrashedSession, error) {
	out := []TrashedSession{}
	if g.Trash == nil {
		return out, nil
	}
	all, err := g.Trash.TrashEntries(ctx)
	for _, t := range all {
		fold := runs.NewFold()
		// A session that cannot be read has no run names, and can be restored
		// or removed nevertheless.
		_, _ = g.Logs.Read(ctx, ports.ReadRequest{Log: trashLog(t)}, fold)
		out = append(out, TrashedSession{t.Name, t.Session, t.AtMs, noteOf(t.Control), g.runNames(ctx, fold)})
	}
	slices.SortStableFunc(out,
		func(a, b TrashedSession) int { return int(max(min(b.TrashedAtMs-a.TrashedAtMs, 1), -1)) })
	return out, err
}

// trashLog is the log of a session in the trash.
func trashLog(t ports.TrashEntry) manifest.Log {
	return manifest.Log{Root: t.Root, Owner: t.Session.String(), Table: event.Domain}
}

// RestoreSession moves a session out of the trash. ref is its name there, its
// session id, a run id, or a unique prefix of an id. Of several with the same
// session id the latest is restored. Errors: SESSION_NOT_FOUND, RUN_AMBIGUOUS,
// VALIDATION_ERROR if the store has another session under the id.
func (g *Engine) RestoreSession(ctx context.Context, by Caller, ref string) (TrashedSession, error) {
	t, err := g.findInTrash(ctx, ref)
	if err != nil {
		return t, err
	}
	what := audit.Act{Action: audit.Restore, Target: audit.Target{Kind: audit.OfSession, ID: t.SessionID.String()}}
	err = g.act(ctx, by, what, func() (map[string]string, error) {
		_, err := g.Trash.Restore(ctx, t.Name)
		return map[string]string{"trash": t.Name}, err
	})
	return t, err
}

// findInTrash resolves a reference to a session in the trash.
func (g *Engine) findInTrash(ctx context.Context, ref string) (TrashedSession, error) {
	all, err := g.Trashed(ctx)
	if err != nil {
		return TrashedSession{}, err
	}
	var found []TrashedSession
	for _, t := range all {
		switch {
		case t.Name == ref || t.SessionID.String() == ref:
			return t, nil // the latest comes first
		case slices.ContainsFunc(t.Runs, func(r RunName) bool { return matchesPrefix(r.RunID, ref) }), ref != "" &&
			strings.HasPrefix(t.SessionID.String(), ref):
			if !slices.ContainsFunc(found, func(f TrashedSession) bool { return f.SessionID == t.SessionID }) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return TrashedSession{}, fault.New(fault.SessionNotFound, "nothing in the trash is called %q", ref).
			Suggest("See 'waybill sessions list --trash'.")
	case 1:
		return found[0], nil
	}
	return TrashedSession{}, fault.New(fault.RunAmbiguous, "%d sessions in the trash fit %q", len(found), ref)
}

// EmptyTrash permanently removes all sessions in the trash. Objects that no log
// refers to then are removed by the next cleanup.
func (g *Engine) EmptyTrash(ctx context.Context, by Caller) (DeletedSessions, error) {
	out := DeletedSessions{Sessions: []TrashedSession{}}
	all, err := g.Trashed(ctx)
	if err != nil || len(all) == 0 {
		return out, err
	}
	what := audit.Act{Action: audit.EmptyTrash, Target: audit.Target{Kind: audit.OfStore}}
	err = g.act(ctx, by, what, func() (map[string]string, error) {
		for _, t := range all {
			if err := g.Trash.Empty(ctx, t.Name); err != nil {
				return nil, err
			}
			out.Sessions = append(out.Sessions, t)
		}
		return nil, nil
	})
	return out, err
}
