package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/compile"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/durable/snapshot"
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
	ForkedFrom  *event.ForkedFrom  `json:"forkedFrom,omitzero"` // the node of another run that it went on from
	Steps       []StepRow          `json:"steps"`
	Gaps        []projections.Gap  `json:"gaps"`
	Findings    []manifest.Finding `json:"findings"`
}

// StepRow is one step of the run's path, done or pending, or still to come.
type StepRow struct {
	StepID          string    `json:"stepId"`
	StepInstanceKey string    `json:"stepInstanceKey"` // with the loops around it
	Title           string    `json:"title"`
	State           StepState `json:"state"`
	NodeID          *id.Node  `json:"nodeId,omitzero"` // where it was or is pending
	Attempts        int       `json:"attempts"`
	Notes           string    `json:"notes,omitzero"`
	DoneAtMs        int64     `json:"doneAtMs,omitzero"`
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
	out := RunDetails{RunSummary: row, Head: at.fold.Head, Preferences: run.Node(run.Tip).Preferences, ForkedFrom: run.Started.ForkedFrom,
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

// visit is one step of a run's path: where it was or is pending, and the node that
// it led to.
type visit struct {
	pending snapshot.PendingStep
	node    *projections.Node
	done    *projections.Node
}

// visits lists the steps from root to tip, in the order in which they were shown.
func (g *Engine) visits(ctx context.Context, r *projections.Run) (out []visit, complete bool, err error) {
	path := r.Path(r.Tip)
	for i, nodeID := range path {
		n := r.Node(nodeID)
		state, err := g.state(ctx, n)
		if err != nil {
			return nil, false, err
		}
		p := state.PendingStep()
		if p == nil {
			continue
		}
		v := visit{pending: *p, node: n}
		if i+1 < len(path) {
			v.done = r.Node(path[i+1])
		}
		out = append(out, v)
	}
	return out, len(out) < len(path), nil
}

// steps lays the path from root to tip over the workflow's steps: what stands
// between two steps of the path was passed over. A loop has a row for each step that
// was shown in it, and one of its own only where nothing was.
func (g *Engine) steps(ctx context.Context, w compile.Compiled, r *projections.Run) ([]StepRow, error) {
	all, complete, err := g.visits(ctx, r)
	if err != nil {
		return nil, err
	}
	byMain := map[string][]visit{} // by the step or loop of the main sequence
	for _, v := range all {
		main := v.pending.StepID
		if len(v.pending.LoopPath) > 0 {
			main = v.pending.LoopPath[0].LoopID
		}
		byMain[main] = append(byMain[main], v)
	}
	brought, err := g.brought(ctx, r)
	if err != nil {
		return nil, err
	}
	rows, ahead := []StepRow{}, !complete
	for i := len(w.Steps) - 1; i >= 0; i-- {
		step := w.Steps[i]
		seen := byMain[step.StepID]
		if len(seen) == 0 {
			state := StepSkipped
			switch {
			case slices.Contains(brought, step.StepID):
				state = StepDone
			case ahead:
				state = StepToCome
			}
			rows = append(rows, StepRow{StepID: step.StepID, StepInstanceKey: step.StepID, Title: step.Title, State: state})
			continue
		}
		ahead = false
		for j := len(seen) - 1; j >= 0; j-- {
			rows = append(rows, rowOf(w, seen[j]))
		}
	}
	slices.Reverse(rows)
	return rows, nil
}

// brought lists the keys of what a forked run found done when it began: nobody did
// it here, and it was not passed over either (R23).
func (g *Engine) brought(ctx context.Context, r *projections.Run) ([]string, error) {
	if r.Started.ForkedFrom == nil {
		return nil, nil
	}
	s, err := g.state(ctx, r.Node(r.Order[0]))
	return s.CompletedKeys(), err
}

func rowOf(w compile.Compiled, v visit) StepRow {
	step, _ := w.Step(v.pending.StepID)
	row := StepRow{StepID: v.pending.StepID, StepInstanceKey: v.pending.Key(), Title: step.Title, State: StepPending,
		NodeID: &v.node.ID, Attempts: len(v.node.Attempts)}
	if v.done != nil {
		row.State, row.DoneAtMs = StepDone, v.done.CreatedAtMs
	}
	if o, ok := v.node.Recap(); ok {
		row.Notes = o.Payload.NotesMarkdown
	}
	return row
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
