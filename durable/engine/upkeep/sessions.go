package upkeep

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/projections/runs"
)

// SessionRow is one row of the document "sessions".
type SessionRow struct {
	SessionID id.Session      `json:"sessionId"`
	Health    manifest.Health `json:"health"`
	Runs      []RunName       `json:"runs"`
	// Events counts those of the valid prefix.
	Events int64 `json:"events"`
	// LastAtMs is the latest activity of its runs, 0 without runs.
	LastAtMs int64 `json:"lastAtMs"`
	// Kept sessions are exempt from cleanup and deletion.
	Kept bool `json:"kept"`
	// Note is the note of the keep mark.
	Note *Note `json:"note,omitzero"`
}

// SessionList is the document "sessions": the latest activity first, and the
// content of the trash.
type SessionList struct {
	Sessions []SessionRow     `json:"sessions"`
	Trash    []TrashedSession `json:"trash"`
}

// SessionList lists the sessions of the store and the trash. Damaged sessions
// are listed with the runs of their valid prefix. A session to which nothing
// was committed is left out.
func (u *Upkeep) SessionList(ctx context.Context) (SessionList, error) {
	return session.Whole(u.store, func() (SessionList, error) { return u.sessionList(ctx) })
}

// sessionList is SessionList, with damaged sessions where no file descriptor was left.
func (u *Upkeep) sessionList(ctx context.Context) (SessionList, error) {
	out := SessionList{Sessions: []SessionRow{}, Trash: []TrashedSession{}}
	all, err := u.kept(ctx)
	if err != nil {
		return out, err
	}
	for i := range all {
		row, ok := u.keptRow(ctx, &all[i])
		if !ok {
			row = u.sessionRow(ctx, all[i].ID)
		}
		if row.Events > 0 || row.Health != manifest.Healthy {
			out.Sessions = append(out.Sessions, row)
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
	sorting.Stable(out.Sessions, func(a, b SessionRow) int { return cmp.Compare(b.LastAtMs, a.LastAtMs) })
	out.Trash, err = u.Trashed(ctx)
	return out, err
}

// kept returns the sessions of the store in order, with what the index has of them.
func (u *Upkeep) kept(ctx context.Context) ([]index.Session, error) {
	if u.Index != nil {
		all, err := u.Index.Sessions(ctx)
		return all.Sessions, err
	}
	all, err := u.store.Sessions(ctx)
	out := make([]index.Session, len(all))
	for i, s := range all {
		out[i].ID = s
	}
	return out, err
}

// keptRow builds the row of a session from what the index has of it; ok is false if that is not enough.
func (u *Upkeep) keptRow(ctx context.Context, s *index.Session) (row SessionRow, ok bool) {
	if !s.Keep {
		return row, false
	}
	row = SessionRow{SessionID: s.ID, Health: manifest.Healthy, Runs: []RunName{}, Events: s.Events}
	for i := range s.Runs {
		r := &s.Runs[i]
		x := r.Facts()
		row.Runs = append(row.Runs, RunName{r.ID, x.WorkflowID, cmp.Or(x.Title, x.Goal, x.WorkflowName, x.WorkflowID)})
		row.LastAtMs = max(row.LastAtMs, r.LastAtMs)
	}
	if s.Marked {
		var err error
		row.Note, err = u.keepNote(ctx, s.ID)
		row.Kept = row.Note != nil || fault.Is(err, fault.StoreCorrupt)
	}
	return row, true
}

// sessionRow builds the row of one session. An unreadable keep mark counts as
// kept, as it does for deletion.
func (u *Upkeep) sessionRow(ctx context.Context, s id.Session) SessionRow {
	h := u.e.NewHistory(s)
	v, err := h.Read(ctx)
	row := SessionRow{SessionID: s, Health: v.Health, Runs: u.runNames(ctx, h.Fold), Events: v.Head.Next}
	if err != nil {
		row.Health = manifest.CorruptHead
	}
	for _, r := range h.Fold.Runs {
		row.LastAtMs = max(row.LastAtMs, r.LastAtMs)
	}
	row.Note, err = u.keepNote(ctx, s)
	row.Kept = row.Note != nil || fault.Is(err, fault.StoreCorrupt)
	return row
}

// runNames lists the runs of a fold with their titles: the run's own, else the
// workflow's name, else the workflow id.
func (u *Upkeep) runNames(ctx context.Context, f *runs.Fold) []RunName {
	out := []RunName{}
	for _, r := range f.Order {
		started := f.Runs[r].Started
		w, _ := u.e.Workflow(ctx, started.WorkflowHash)
		out = append(out, RunName{r, started.WorkflowID, cmp.Or(started.Name(), w.Name, started.WorkflowID)})
	}
	return out
}
