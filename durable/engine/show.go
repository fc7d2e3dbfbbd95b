package engine

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// RunDetails is the document "run": a summary, and the details under names of
// their own.
type RunDetails struct {
	RunSummary
	Workflow    WorkflowRef       `json:"workflow"`
	Head        manifest.Head     `json:"head"`
	Preferences event.Preferences `json:"preferences"`
	ForkedFrom  *event.ForkedFrom `json:"forkedFrom,omitzero"` // the node of another run that it went on from
	Steps       []StepRow         `json:"steps"`
	Gaps        []OpenGap         `json:"gaps"`
	// Blockers are what the tip's snapshot says is missing where another program stored
	// the run as blocked; of our own, Gaps say it.
	Blockers []snapshot.Lack    `json:"blockers,omitzero"`
	Findings []manifest.Finding `json:"findings"`
}

// OpenGap is a gap that is open on the way to the tip.
type OpenGap struct {
	ID       id.Gap          `json:"gapId,omitzero"`
	Foreign  string          `json:"foreignGapId,omitzero"` // in its place, where another program recorded the gap
	Index    int64           `json:"index"`
	Pointer  *reason.Pointer `json:"pointer,omitzero"`
	Reason   reason.Code     `json:"reason"`
	Severity event.Severity  `json:"severity"`
	Summary  string          `json:"summary"`
}

func openGap(g projections.Gap) OpenGap {
	out := OpenGap{g.ID, "", g.Index, g.Pointer, g.Reason, g.Severity, g.Summary}
	if g.ID.IsZero() {
		out.Foreign = g.IDText()
	}
	return out
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
	row, err := g.runSummary(ctx, at.session, run, v.Health)
	if err != nil {
		return RunDetails{}, err
	}
	row.Annotations = g.annotationCounter(ctx, at.session)(run.ID)
	obs := &observer{g: g}
	w, tip, _, err := obs.tip(ctx, run, run.Node(run.Tip))
	if err != nil {
		return RunDetails{}, err
	}
	out := RunDetails{RunSummary: row, Head: at.fold.Head, Preferences: run.Node(run.Tip).Preferences,
		ForkedFrom: run.Started.ForkedFrom,
		Workflow:   WorkflowRef{run.Started.WorkflowID, w.Name(), run.Started.WorkflowHash}, Gaps: []OpenGap{},
		Blockers: tip.Lacks(), Findings: append([]manifest.Finding{}, v.Findings...)}
	for _, n := range run.Path(run.Tip) {
		for _, gap := range run.Node(n).OpenGaps {
			out.Gaps = append(out.Gaps, openGap(gap))
		}
	}
	out.Steps, err = obs.steps(ctx, w, run)
	out.Health = obs.health(out.Health)
	return out, err
}

// Events hands out the stored events of a run's session that are the run's or
// the session's own, exactly as they are, with the log's table to write them.
func (g *Engine) Events(ctx context.Context, ref string) ([]event.Event, manifest.Verdict, error) {
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return nil, manifest.Verdict{}, err
	}
	c := &eventCollector{run: at.run.ID}
	v, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(at.session)}, c)
	return c.events, v, err
}

type eventCollector struct {
	run    id.Run
	events []event.Event
}

// Reset starts over.
func (c *eventCollector) Reset() { c.events = nil }

// Visit keeps the events of the run, and those that name none.
func (c *eventCollector) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		if e.Scope.RunID == c.run || e.Scope.RunID.IsZero() {
			c.events = append(c.events, e)
		}
	}
	return nil
}
