package upkeep

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/sorting"
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
	// Redactions are the places of the request from which a secret was removed.
	Redactions []redact.Finding `json:"redactions,omitzero"`
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
func (u *Upkeep) Deletable(ctx context.Context, req DeleteRequest) ([]SessionRow, error) {
	var rows []SessionRow
	for _, ref := range req.Refs {
		s, err := u.e.ResolveSession(ctx, ref)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rows, func(r SessionRow) bool { return r.SessionID == s }) {
			continue
		}
		if err := u.checkNotKept(ctx, s); err != nil {
			return nil, err
		}
		rows = append(rows, u.sessionRow(ctx, s))
	}
	return rows, nil
}

// DeleteSessions moves sessions to the trash, healthy or not. All of them are
// resolved before the first one is moved; if moving one fails, those before it
// remain in the trash and are in the result. Each is one audited act.
func (u *Upkeep) DeleteSessions(ctx context.Context, by engine.Caller, req DeleteRequest) (DeletedSessions, error) {
	out := DeletedSessions{Sessions: []TrashedSession{}}
	rows, err := u.Deletable(ctx, req)
	if err != nil {
		return out, err
	}
	// Validated before the first act is recorded.
	n, redactions, err := newNote(by, req.Reason)
	if err != nil {
		return out, err
	}
	out.Redactions = redactions
	for _, row := range rows {
		what := audit.Act{Action: audit.Delete, Target: audit.Target{Kind: audit.OfSession, ID: row.SessionID.String()},
			Reason: n.Reason}
		err := u.ledger.Act(ctx, by, what, func() (map[string]string, error) {
			t, err := u.moveToTrash(ctx, row.SessionID, n, func() error { return u.checkNotKept(ctx, row.SessionID) })
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
func (u *Upkeep) moveToTrash(ctx context.Context, s id.Session, n Note, unless func() error) (ports.TrashEntry, error) {
	t, err := u.store.Discard(ctx, s, n.AtMs, n.data(), unless)
	if err == nil {
		u.e.Drop(s)
		u.forget(ctx)
	}
	return t, err
}

// Trashed lists the content of the trash, the latest deletion first. Errors of session.Whole.
func (u *Upkeep) Trashed(ctx context.Context) ([]TrashedSession, error) {
	return session.Whole(u.store, func() ([]TrashedSession, error) { return u.trashed(ctx) })
}

// trashed is Trashed, in which a session that cannot be read has no runs.
func (u *Upkeep) trashed(ctx context.Context) ([]TrashedSession, error) {
	out := []TrashedSession{}
	all, err := u.store.TrashEntries(ctx)
	for _, t := range all {
		fold := runs.NewFold() // stays empty if the log cannot be read
		// A session that cannot be read has no run names, and can be restored
		// or removed nevertheless.
		_, _ = u.store.Read(ctx, ports.ReadRequest{Log: trashLog(t)}, ports.Into(&fold, runs.NewFold))
		out = append(out, TrashedSession{t.Name, t.Session, t.AtMs, noteOf(t.Control), u.runNames(ctx, fold)})
	}
	sorting.Stable(out,
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
func (u *Upkeep) RestoreSession(ctx context.Context, by engine.Caller, ref string) (TrashedSession, error) {
	t, err := u.findInTrash(ctx, ref)
	if err != nil {
		return t, err
	}
	what := audit.Act{Action: audit.Restore, Target: audit.Target{Kind: audit.OfSession, ID: t.SessionID.String()}}
	err = u.ledger.Act(ctx, by, what, func() (map[string]string, error) {
		_, err := u.store.Restore(ctx, t.Name)
		return map[string]string{"trash": t.Name}, err
	})
	return t, err
}

// findInTrash resolves a reference to a session in the trash.
func (u *Upkeep) findInTrash(ctx context.Context, ref string) (TrashedSession, error) {
	all, err := u.Trashed(ctx)
	if err != nil {
		return TrashedSession{}, err
	}
	ref = id.Typed(ref)
	var found []TrashedSession
	for _, t := range all {
		switch {
		case t.Name == ref || t.SessionID.String() == ref:
			return t, nil // the latest comes first
		case slices.ContainsFunc(t.Runs, func(r RunName) bool { return session.MatchesPrefix(r.RunID, ref) }), ref != "" &&
			strings.HasPrefix(t.SessionID.String(), ref):
			if !slices.ContainsFunc(found, func(f TrashedSession) bool { return f.SessionID == t.SessionID }) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return TrashedSession{}, fault.New(fault.SessionNotFound, "nothing in the trash is called %q", ref).
			Suggest("See %s.", fault.Command{"sessions", "list", "--trash"})
	case 1:
		return found[0], nil
	}
	return TrashedSession{}, fault.New(fault.RunAmbiguous, "%d sessions in the trash fit %q", len(found), ref)
}

// EmptyTrash permanently removes all sessions in the trash. Objects that no log
// refers to then are removed by the next cleanup.
func (u *Upkeep) EmptyTrash(ctx context.Context, by engine.Caller) (DeletedSessions, error) {
	out := DeletedSessions{Sessions: []TrashedSession{}}
	all, err := u.Trashed(ctx)
	if err != nil || len(all) == 0 {
		return out, err
	}
	what := audit.Act{Action: audit.EmptyTrash, Target: audit.Target{Kind: audit.OfStore}}
	err = u.ledger.Act(ctx, by, what, func() (map[string]string, error) {
		for _, t := range all {
			if err := u.store.Empty(ctx, t.Name); err != nil {
				return nil, err
			}
			out.Sessions = append(out.Sessions, t)
		}
		return nil, nil
	})
	return out, err
}
