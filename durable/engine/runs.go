package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// RunSummary is one row of the document "runs".
type RunSummary struct {
	RunID                  id.Run             `json:"runId"`
	SessionID              id.Session         `json:"sessionId"`
	WorkflowID             string             `json:"workflowId"`
	Title                  string             `json:"title"`
	Status                 projections.Status `json:"status"`
	Health                 manifest.Health    `json:"health"`
	Progress               Progress           `json:"progress"`
	Tips                   []Tip              `json:"tips"`
	OpenCriticalGaps       int                `json:"openCriticalGaps"`
	Annotations            AnnotationCounts   `json:"annotations"`
	LastActivityEventIndex int64              `json:"lastActivityEventIndex"`
	StartedAtMs            int64              `json:"startedAtMs"`
	LastAtMs               int64              `json:"lastAtMs"`
}

// Progress counts acknowledged steps; Total is left out where loops make it open.
type Progress struct {
	Completed int64 `json:"completed"`
	Total     int64 `json:"total,omitzero"`
}

// Tip is a leaf of a run's DAG.
type Tip struct {
	NodeID    id.Node `json:"nodeId"`
	Preferred bool    `json:"preferred"`
}

// AnnotationCounts is what the annotations of a run come to that stand.
type AnnotationCounts struct {
	Count      int64    `json:"count"`
	MeanRating *float64 `json:"meanRating,omitzero"` // 1 to 5, two decimals; absent where nobody rated the run
	Flags      int64    `json:"flags"`
	// Incomplete says that the annotations could not be read to their end, and that there
	// may be more.
	Incomplete bool `json:"incomplete,omitzero"`
}

// Unreadable is a session that no run could be read from.
type Unreadable struct {
	SessionID id.Session      `json:"sessionId,omitzero"`
	Name      string          `json:"name,omitzero"` // of a session's folder whose name is no session id
	Health    manifest.Health `json:"health"`
	Message   string          `json:"message"`
}

// RunList is the document "runs": the latest activity first, by the stored time
// of a run's last event. Sessions that cannot be read are named, never dropped.
type RunList struct {
	Runs       []RunSummary `json:"runs"`
	Unreadable []Unreadable `json:"unreadable"`
}

// Runs lists the runs of the store. A damaged session is shown by its valid prefix.
func (g *Engine) Runs(ctx context.Context) (RunList, error) {
	out := RunList{Runs: []RunSummary{}, Unreadable: []Unreadable{}}
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return out, err
	}
	for _, s := range all {
		fold, v, err := g.readWindowed(ctx, s)
		if err != nil {
			out.Unreadable = append(out.Unreadable, Unreadable{SessionID: s, Health: manifest.CorruptHead,
				Message: fault.Of(err).Message})
			continue
		}
		if v.Unborn() {
			continue
		}
		if len(fold.Order) == 0 {
			out.Unreadable = append(out.Unreadable,
				Unreadable{SessionID: s, Health: v.Health, Message: lastFindingMessage(v)})
		}
		counts := g.annotationCounter(ctx, s)
		for _, runID := range fold.Order {
			row, err := g.runSummary(ctx, s, fold.Runs[runID], v.Health)
			if err != nil {
				out.Unreadable = append(out.Unreadable,
					Unreadable{SessionID: s, Health: v.Health, Message: fault.Of(err).Message})
				continue
			}
			row.Annotations = counts(runID)
			out.Runs = append(out.Runs, row)
		}
	}
	if all, ok := g.Sessions.(ports.Strangers); ok {
		names, err := all.Strangers(ctx)
		if err != nil {
			return out, err
		}
		for _, name := range names {
			out.Unreadable = append(out.Unreadable, Unreadable{Name: name, Health: manifest.UnknownVersion,
				Message: "the name of its folder is no session id, and it was not read"})
		}
	}
	slices.SortStableFunc(out.Runs, func(a, b RunSummary) int {
		return cmp.Or(cmp.Compare(b.LastAtMs, a.LastAtMs),
			cmp.Compare(b.LastActivityEventIndex, a.LastActivityEventIndex),
			cmp.Compare(a.RunID.String(), b.RunID.String()))
	})
	return out, nil
}

func lastFindingMessage(v manifest.Verdict) string {
	if len(v.Findings) == 0 {
		return "the session holds no run"
	}
	return v.Findings[len(v.Findings)-1].Message
}

// said sums up what was said of the runs of a session. It never fails: a run is listed
// whatever became of its annotations, and the counts say that they may be too low.
func (g *Engine) annotationCounter(ctx context.Context, s id.Session) func(id.Run) AnnotationCounts {
	t, whole, err := g.tally(ctx, s)
	return func(run id.Run) AnnotationCounts {
		sums := t.Of(run).Summary()
		return AnnotationCounts{sums.Annotations, sums.MeanRating, sums.Flags, err != nil || !whole}
	}
}

// summary reads what no event says from the tip's snapshot and the pinned workflow.
func (g *Engine) runSummary(ctx context.Context, s id.Session, r *projections.Run, h manifest.Health) (RunSummary,
	error) {
	row := RunSummary{RunID: r.ID, SessionID: s, WorkflowID: r.Started.WorkflowID, Title: r.Started.Title, Health: h,
		OpenCriticalGaps: len(r.CriticalOnPath(r.Tip)), LastActivityEventIndex: r.LastIndex,
		StartedAtMs: r.StartedAtMs, LastAtMs: r.LastAtMs, Tips: []Tip{}}
	for _, n := range r.Tips() {
		row.Tips = append(row.Tips, Tip{n, n == r.Tip})
	}
	tip := r.Node(r.Tip)
	if tip == nil {
		return row, fault.New(fault.Invariant, "run %s has no node", r.ID)
	}
	obs := &observer{g: g}
	w, _, state, err := obs.tip(ctx, r, tip)
	if err != nil {
		return row, err
	}
	row.Health = obs.health(h)
	row.Status = r.StatusAt(r.Tip, state)
	row.Progress = Progress{tip.Depth, w.Total()}
	row.Title = cmp.Or(row.Title, w.Name(), r.Started.WorkflowID)
	return row, nil
}

// foreignForm: what another program pinned or remembered says less to us, and does
// not keep us from reading the rest (R14).
func isForeignForm(err error) bool {
	return fault.Is(err, fault.StoreForeign) || fault.Is(err, fault.StoreNewer) || fault.Is(err, fault.SessionUnhealthy)
}
