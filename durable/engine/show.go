package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// RunDetails is the document "run": a summary, and the details under names of
// their own.
type RunDetails struct {
	RunSummary
	Workflow    WorkflowRef        `json:"workflow"`
	Head        manifest.Head      `json:"head"`
	Preferences event.Preferences  `json:"preferences"`
	Steps       []StepRow          `json:"steps"`
	Gaps        []projections.Gap  `json:"gaps"`
	Findings    []manifest.Finding `json:"findings"`
}

// StepRow is one step of the run's path, done or pending, or still to come.
type StepRow struct {
	StepID   string    `json:"stepId"`
	Title    string    `json:"title"`
	State    StepState `json:"state"`
	NodeID   *id.Node  `json:"nodeId,omitzero"` // where it was or is pending
	Attempts int       `json:"attempts"`
	Notes    string    `json:"notes,omitzero"`
	DoneAtMs int64     `json:"doneAtMs,omitzero"`
}

// StepState is the closed set of what a step of a run can be.
type StepState string

// The step states.
const (
	StepDone    StepState = "done"
	StepPending StepState = "pending"
	StepSkipped StepState = "skipped"
	StepToCome  StepState = "to_come"
)

// Run shows one run by id, prefix or @last.
func (g *Engine) Run(ctx context.Context, ref string) (RunDetails, error) {
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return RunDetails{}, err
	}
	run, v := at.run, at.verdict
	row, err := g.summary(ctx, at.session, run, v.Health)
	if err != nil {
		return RunDetails{}, err
	}
	w, err := g.workflow(ctx, run.Started.WorkflowHash)
	foreign := v.Health == manifest.UnknownVersion && foreignForm(err)
	if err != nil && !foreign {
		return RunDetails{}, err
	}
	out := RunDetails{RunSummary: row, Head: at.fold.Head, Preferences: run.Node(run.Tip).Preferences,
		Workflow: WorkflowRef{run.Started.WorkflowID, w.Name, run.Started.WorkflowHash}, Gaps: []projections.Gap{}, Findings: append([]manifest.Finding{}, v.Findings...)}
	for _, n := range run.Path(run.Tip) {
		out.Gaps = append(out.Gaps, run.Node(n).OpenGaps...)
	}
	out.Steps = []StepRow{}
	if foreign {
		return out, nil
	}
	out.Steps, err = g.steps(ctx, w, run)
	return out, err
}

// steps lays the path from root to tip over the workflow's steps: what stands
// between two steps of the path was passed over.
func (g *Engine) steps(ctx context.Context, w compile.Compiled, r *projections.Run) ([]StepRow, error) {
	type visit struct {
		node *projections.Node
		done *projections.Node
	}
	visits := map[string]visit{}
	path := r.Path(r.Tip)
	for i, nodeID := range path {
		n := r.Node(nodeID)
		state, err := g.state(ctx, n)
		if err != nil {
			return nil, err
		}
		if p := state.PendingStep(); p != nil {
			v := visit{node: n}
			if i+1 < len(path) {
				v.done = r.Node(path[i+1])
			}
			visits[p.StepID] = v
		}
	}
	tip, err := g.state(ctx, r.Node(r.Tip))
	if err != nil {
		return nil, err
	}
	rows, ahead := []StepRow{}, !tip.IsComplete()
	for i := len(w.Steps) - 1; i >= 0; i-- {
		step := w.Steps[i]
		row := StepRow{StepID: step.StepID, Title: step.Title, State: StepToCome}
		v, seen := visits[step.StepID]
		switch {
		case seen && v.done != nil:
			row.State, row.DoneAtMs, ahead = StepDone, v.done.CreatedAtMs, false
		case seen:
			row.State, ahead = StepPending, false
		case !ahead:
			row.State = StepSkipped
		}
		if seen {
			row.NodeID, row.Attempts = &v.node.ID, len(v.node.Attempts)
			if o, ok := v.node.Recap(); ok {
				row.Notes = o.Payload.NotesMarkdown
			}
		}
		rows = append(rows, row)
	}
	slices.Reverse(rows)
	return rows, nil
}

// Events hands out the stored events of a run's session that are the run's or
// the session's own, exactly as they are, with the log's table to write them.
func (g *Engine) Events(ctx context.Context, ref string) ([]event.Event, manifest.Verdict, error) {
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return nil, manifest.Verdict{}, err
	}
	c := &collect{run: at.run.ID}
	v, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(at.session)}, c)
	return c.events, v, err
}

type collect struct {
	run    id.Run
	events []event.Event
}

// Reset starts over.
func (c *collect) Reset() { c.events = nil }

// Visit keeps the events of the run, and those that name none.
func (c *collect) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		if e.Scope.RunID == c.run || e.Scope.RunID.IsZero() {
			c.events = append(c.events, e)
		}
	}
	return nil
}
