package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// SessionRow is one row of the document "sessions".
type SessionRow struct {
	SessionID id.Session      `json:"sessionId"`
	Health    manifest.Health `json:"health"`
	Runs      []RunName       `json:"runs"`
	Events    int64           `json:"events"`
	LastAtMs  int64           `json:"lastAtMs"`
	Kept      bool            `json:"kept"`
	Note      *Note           `json:"note,omitzero"` // of whoever keeps it
}

// SessionList is the document "sessions": the latest activity first, and what lies in
// the trash where that was asked for.
type SessionList struct {
	Sessions []SessionRow     `json:"sessions"`
	Trash    []TrashedSession `json:"trash"`
}

// SessionList lists the sessions of the store, damaged ones as far as they can be
// read. Those that nothing was committed to are none yet.
func (g *Engine) SessionList(ctx context.Context) (SessionList, error) {
	out := SessionList{Sessions: []SessionRow{}, Trash: []TrashedSession{}}
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return out, err
	}
	for _, s := range all {
		if row := g.sessionRow(ctx, s); row.Events > 0 || row.Health != manifest.Healthy {
			out.Sessions = append(out.Sessions, row)
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
	slices.SortStableFunc(out.Sessions, func(a, b SessionRow) int { return cmp.Compare(b.LastAtMs, a.LastAtMs) })
	out.Trash, err = g.Trashed(ctx)
	return out, err
}

func (g *Engine) sessionRow(ctx context.Context, s id.Session) SessionRow {
	fold := projections.NewFold()
	v, err := g.read(ctx, s, fold)
	row := SessionRow{SessionID: s, Health: v.Health, Runs: g.runNames(ctx, fold), Events: v.Head.Next}
	if err != nil {
		row.Health = manifest.CorruptHead
	}
	for _, r := range fold.Runs {
		row.LastAtMs = max(row.LastAtMs, r.LastAtMs)
	}
	row.Note, err = g.keepNote(ctx, s)
	row.Kept = row.Note != nil || fault.Is(err, fault.StoreCorrupt)
	return row
}

// runNames names runs as well as they can be named: a workflow that cannot be read
// leaves its id.
func (g *Engine) runNames(ctx context.Context, f *projections.Fold) []RunName {
	out := []RunName{}
	for _, r := range f.Order {
		started := f.Runs[r].Started
		w, _ := g.workflow(ctx, started.WorkflowHash)
		out = append(out, RunName{r, started.WorkflowID, cmp.Or(started.Title, w.Name, started.WorkflowID)})
	}
	return out
}
