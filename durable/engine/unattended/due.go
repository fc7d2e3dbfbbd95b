package unattended

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// DueRun is a run whose wait is over and that nothing has continued (docs/design.md#waiting): the
// pending step waits no longer, or a command behind a wait was not tried yet, as after a crash.
type DueRun struct {
	RunID      id.Run     `json:"runId"`
	SessionID  id.Session `json:"sessionId"`
	WorkflowID string     `json:"workflowId"`
	// Title names the run: its title, else its goal, else the workflow's name.
	Title string `json:"title"`
	// StepID is the pending step, WaitStepID the one that waited, if that is another one.
	StepID     string `json:"stepId"`
	WaitStepID string `json:"waitStepId,omitzero"`
	// AtMs is the moment until which the run waited, in milliseconds since 1970 UTC.
	AtMs int64 `json:"atMs"`
	// Imported reports that the run came with a bundle and was not continued in this store.
	Imported bool `json:"imported,omitzero"`
	// Attempt is the next one at the pending step.
	Attempt id.Attempt `json:"-"`
}

// DueList is what waits in a store: the runs whose wait is over, the earliest first, and how many
// still wait.
type DueList struct {
	Items []DueRun `json:"items"`
	// Ahead is the number of runs that still wait, NextAtMs the moment at which the first of them is due.
	Ahead    int   `json:"ahead"`
	NextAtMs int64 `json:"nextAtMs,omitzero"`
	// Unreadable are the sessions that could not be read, and may wait.
	Unreadable []views.Unreadable `json:"unreadable"`
}

// Due lists the runs whose wait is over at a moment. Paused runs, and runs of damaged sessions, of another program and
// of a newer version are left out: no step of them can be performed. The errors are those of a list of runs.
func (o *Finder) Due(ctx context.Context, nowMs int64) (DueList, error) {
	return session.Whole(o.store, func() (DueList, error) { return o.due(ctx, nowMs) })
}

// due is Due, with unreadable sessions where no file descriptor was left.
func (o *Finder) due(ctx context.Context, nowMs int64) (DueList, error) {
	out := DueList{Items: []DueRun{}, Unreadable: []views.Unreadable{}}
	all, err := o.mayBeDue(ctx, nowMs, &out)
	if err != nil {
		return out, err
	}
	for _, s := range all {
		fold, v, err := o.r.ReadWindowed(ctx, s)
		if err == nil && !v.Unborn() && v.Health == manifest.Healthy {
			err = o.dueOf(ctx, s, fold, nowMs, &out)
		}
		if err != nil {
			out.Unreadable = append(out.Unreadable, views.Unreadable{SessionID: s, Health: cmp.Or(v.Health, manifest.CorruptHead),
				Message: fault.Of(err).Message})
		}
	}
	sorting.By(out.Items, func(a, b DueRun) int {
		return cmp.Or(cmp.Compare(a.AtMs, b.AtMs), a.RunID.Compare(b.RunID))
	})
	return out, nil
}

// mayBeDue counts the waits ahead of which the catalogue knows, and returns the other sessions with runs of which something is pending, and
// those that cannot be read, in order.
func (o *Finder) mayBeDue(ctx context.Context, nowMs int64, list *DueList) (out []id.Session, err error) {
	if o.Index == nil {
		return o.store.Sessions(ctx)
	}
	all, err := o.Index.Select(ctx, ports.BriefQuery{Pending: true})
	for i := range all.Sessions {
		s := &all.Sessions[i]
		ahead := DueList{}
		if !s.Keep || slices.ContainsFunc(s.Runs, func(r index.Run) bool {
			p := r.Pending()
			if p.Kind == manifest.WaitPending && p.AtMs > nowMs {
				ahead.wait(p.AtMs)
				return false
			}
			return p.Kind == manifest.WaitPending || p.Kind == manifest.CommandPending
		}) {
			out = append(out, s.ID)
			continue
		}
		if list.Ahead += ahead.Ahead; ahead.Ahead > 0 && (list.NextAtMs == 0 || ahead.NextAtMs < list.NextAtMs) {
			list.NextAtMs = ahead.NextAtMs
		}
	}
	return out, err
}

// wait counts a run that still waits.
func (l *DueList) wait(atMs int64) {
	if l.Ahead++; l.NextAtMs == 0 || atMs < l.NextAtMs {
		l.NextAtMs = atMs
	}
}

// dueOf adds the runs of a session.
func (o *Finder) dueOf(ctx context.Context, s id.Session, fold *runs.Fold, nowMs int64, out *DueList) error {
	for _, runID := range fold.Order {
		r := fold.Runs[runID]
		row, ok, err := o.waitOf(ctx, r)
		switch {
		case err != nil && session.IsForeignForm(err):
			continue
		case err != nil:
			return err
		case !ok:
			continue
		case row.AtMs > nowMs:
			out.wait(row.AtMs)
			continue
		}
		row.RunID, row.SessionID, row.WorkflowID = runID, s, r.Started.WorkflowID
		if o.here.Imported != nil {
			foreign, err := o.here.Imported(ctx, manifest.SessionEvents(s))
			if err != nil {
				return err
			}
			row.Imported = foreign.Has(r.LastIndex)
		}
		out.Items = append(out.Items, row)
	}
	return nil
}

// waitOf returns the wait at the preferred tip of a run, or the one behind which its command was not
// tried yet. ok is false without one.
func (o *Finder) waitOf(ctx context.Context, r *runs.Run) (row DueRun, ok bool, err error) {
	tip := r.Node(r.Tip)
	if tip == nil || r.Closed != nil || r.CancelRequested != nil || r.Paused() || r.Started.ForkedFrom.IsReplay() {
		return row, false, nil
	}
	w, err := o.r.Workflow(ctx, r.Started.WorkflowHash)
	if err != nil || !w.Waits() {
		return row, false, err
	}
	state, err := o.r.State(ctx, tip)
	if err != nil || state.PendingStep() == nil {
		return row, false, err
	}
	row = DueRun{Title: cmp.Or(r.Started.Name(), w.Name, r.Started.WorkflowID), StepID: state.PendingStep().StepID,
		Attempt: tip.NextAttempt()}
	if at := engine.WaitAt(w, state, tip); at != nil {
		row.AtMs = at.UntilMs
		return row, at.Unset == "", nil
	}
	if step, _ := w.Step(row.StepID); len(tip.Attempts) > 0 || !unattended(step) {
		return row, false, nil
	}
	row.WaitStepID, row.AtMs, err = o.waitBefore(ctx, w, r, tip)
	return row, row.WaitStepID != "", err
}

// waitBefore returns the nearest wait before a node, if only commands are between, and the moment
// until which it waited; "" without one.
func (o *Finder) waitBefore(ctx context.Context, w compile.Compiled, r *runs.Run, n *runs.Node) (string, int64, error) {
	for range limits.DueStepsMax {
		if n = r.Before(n); n == nil {
			break
		}
		state, err := o.r.State(ctx, n)
		if err != nil || state.PendingStep() == nil {
			return "", 0, err
		}
		if at, waits := engine.WaitOver(w, state, n); waits {
			return state.PendingStep().StepID, at, nil
		}
		if step, _ := w.Step(state.PendingStep().StepID); !unattended(step) {
			break
		}
	}
	return "", 0, nil
}

// unattended reports a step whose command needs nothing of a person or an agent.
func unattended(s compile.Step) bool {
	return s.Action != nil && !s.NotesRequired && s.Criteria().IsZero() && s.OutputContract == nil &&
		len(s.AssessmentRefs) == 0 && s.RequireConfirmation.Kind == compile.ConfirmNever
}

// DueOutcome is how far 'waybill due --run' got with a run, a closed set.
type DueOutcome string

// The outcomes.
const (
	DueComplete DueOutcome = "complete" // the run is complete
	DueWaiting  DueOutcome = "waiting"  // it waits for a person, for trust or until another moment
	DueFailed   DueOutcome = "failed"   // a step failed, or the run could not be continued
	DueBusy     DueOutcome = "busy"     // another process performs the run, or has continued it
	DueSkipped  DueOutcome = "skipped"  // the run was imported, and no person has continued it here
)
