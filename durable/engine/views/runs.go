package views

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/annotations"
	"github.com/waybill/waybill/projections/runs"
)

// RunSummary is one row of the document "runs". Status, progress and gaps are
// those of the preferred tip.
type RunSummary struct {
	RunID      id.Run     `json:"runId"`
	SessionID  id.Session `json:"sessionId"`
	WorkflowID string     `json:"workflowId"`
	Source     string     `json:"source,omitzero"` // of the workflow: plugin:NAME, or its kind
	// Title names the run: its title, else its goal, else the workflow's name.
	Title string `json:"title"`
	// Goal is what the run is for, absent where none was given.
	Goal string `json:"goal,omitzero"`
	// Status is that of the preferred tip.
	Status runs.Status `json:"status"`
	// CommandFailed reports that the run is open and the command of its pending step failed.
	CommandFailed bool `json:"commandFailed,omitzero"`
	// Branch is the git branch on which the session was last recorded, absent outside a repository.
	Branch string `json:"branch,omitzero"`
	// Health is the session's; the runs of one session share it.
	Health manifest.Health `json:"health"`
	// Partial reports that the session is damaged: the row has what its valid beginning says.
	Partial  bool     `json:"partial,omitzero"`
	Progress Progress `json:"progress"`
	Tips     []Tip    `json:"tips"`
	// OpenCriticalGaps counts those on the path to the preferred tip.
	OpenCriticalGaps int              `json:"openCriticalGaps"`
	Annotations      AnnotationCounts `json:"annotations"`
	// WaitUntilMs is the moment until which the pending step waits, 0 if it does not.
	WaitUntilMs int64 `json:"waitUntilMs,omitzero"`
	// LastActivityEventIndex orders runs of one session with equal times.
	LastActivityEventIndex int64 `json:"lastActivityEventIndex"`
	// Times are milliseconds since 1970, as recorded by the callers.
	StartedAtMs int64 `json:"startedAtMs"`
	LastAtMs    int64 `json:"lastAtMs"`
}

// IsOpen reports that the run is neither closed nor waits for a moment: it may wait for a person.
func (r RunSummary) IsOpen() bool {
	return r.WaitUntilMs == 0 && (r.Status == runs.InProgress || r.Status == runs.Blocked || r.Status == runs.Paused)
}

// Progress counts the completed steps on the path, and never falls; in form 2 it
// includes those before a fork. Total is absent for workflows with loops, and in
// form 2 with conditions, since the number of their steps is not known in
// advance.
type Progress struct {
	Completed int64 `json:"completed"`
	Total     int64 `json:"total,omitzero"`
}

// Tip is a leaf of a run's graph.
type Tip struct {
	NodeID    id.Node `json:"nodeId"`
	Preferred bool    `json:"preferred"`
}

// AnnotationCounts summarizes the current annotations of a run.
type AnnotationCounts struct {
	Count int64 `json:"count"`
	// MeanRating is 1 to 5 with two decimals, absent without ratings.
	MeanRating *float64 `json:"meanRating,omitzero"`
	Flags      int64    `json:"flags"`
	// Incomplete reports that the annotations could not be read to the end, so
	// that the counts may be too low.
	Incomplete bool `json:"incomplete,omitzero"`
}

// Unreadable is a session of which no run could be read.
type Unreadable struct {
	SessionID id.Session `json:"sessionId,omitzero"`
	// Name is set for a directory whose name is not a session id.
	Name    string          `json:"name,omitzero"`
	Health  manifest.Health `json:"health"`
	Message string          `json:"message"`
}

// LastFinding is the message of the last finding: the one at which the
// reading stopped.
func LastFinding(v manifest.Verdict) string {
	if len(v.Findings) == 0 {
		return "the session has no run"
	}
	return v.Findings[len(v.Findings)-1].Message
}

// AnnotationCounter reads the annotations of a session and returns their counts
// by run. It never fails: a run is listed even if its annotations cannot be
// read, and the counts report that they are incomplete.
func (o *Views) AnnotationCounter(ctx context.Context, s id.Session) func(id.Run) AnnotationCounts {
	t, whole, err := o.r.Tally(ctx, s)
	return func(run id.Run) AnnotationCounts {
		return CountsOf(t.Of(run), err == nil && whole)
	}
}

// CountsOf returns the counts of a run, of whose annotations all or only some were read.
func CountsOf(of annotations.Sums, whole bool) AnnotationCounts {
	sums := of.Summary()
	return AnnotationCounts{sums.Annotations, sums.MeanRating, sums.Flags, !whole}
}

// SummaryOf builds the row of a run. Status, total and workflow name come from
// the tip's snapshot and the pinned workflow, which no event repeats.
func (o *Views) SummaryOf(ctx context.Context, s id.Session, r *runs.Run, h manifest.Health) (RunSummary,
	error) {
	row := RunSummary{RunID: r.ID, SessionID: s, WorkflowID: r.Started.WorkflowID,
		Source: o.r.Origins.SourceOf(ctx, s, r.Started), Title: r.Started.Name(), Goal: r.Started.Goal, Health: h, Partial: h.Partial(),
		OpenCriticalGaps: len(r.CriticalOnPath(r.Tip)), LastActivityEventIndex: r.LastIndex,
		StartedAtMs: r.StartedAtMs, LastAtMs: r.LastAtMs, Tips: []Tip{}}
	for _, n := range r.Tips() {
		row.Tips = append(row.Tips, Tip{n, n == r.Tip})
	}
	tip := r.Node(r.Tip)
	if tip == nil {
		return row, fault.New(fault.Invariant, "run %s has no node", r.ID)
	}
	obs := &observer{v: o}
	w, _, state, err := obs.tip(ctx, r, tip)
	if err != nil {
		return row, err
	}
	row.Health = obs.health(h)
	row.Status = r.StatusAt(r.Tip, state)
	row.CommandFailed = obs.commandFailed(ctx, r, tip, row.Status)
	if wait, err := obs.waitAt(ctx, r, tip, row.Status); err != nil {
		return row, err
	} else if wait != nil {
		row.WaitUntilMs = wait.UntilMs
	}
	done, err := obs.stepsDone(ctx, r, tip)
	if err != nil {
		return row, err
	}
	row.Progress = Progress{done, w.Total()}
	row.Title = cmp.Or(row.Title, w.Name(), r.Started.WorkflowID)
	return row, nil
}
