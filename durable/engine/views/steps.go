package views

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/steplist"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// pathStep is one step on a run's path: the node at which it is pending, and the node that it led to. A blocked_attempt
// node, which another program writes for a refused attempt, is merged into the step before it.
type pathStep struct {
	pending snapshot.PendingStep
	node    *runs.Node
	done    *runs.Node // nil: not acknowledged
	// tried are node and the nodes of refused attempts before it.
	tried    []*runs.Node
	attempts int
	notes    string
	// whole is the artifact with all of the notes, zero where notes are complete.
	whole canon.Digest
	// checkpoints are those of node and of the nodes that were merged into it.
	checkpoints []runs.Checkpoint
}

// planSteps lists the steps of a run: it merges the path from root to tip with the steps of the workflow. A step
// between two steps of the path was skipped; one behind the path is to come, or skipped if the run is complete. Each step
// that was pending in a loop has its own row; a loop in which none was has one row. If the workflow cannot be read, only
// the steps of the path are listed. only selects the rows of a step id, loop id or step instance key, "" all of them.
func (s *RunReading) planSteps(ctx context.Context, only string) error {
	steps := s.workflow.Steps()
	groups := map[string]int{}
	for i, step := range steps {
		groups[step.StepID] = i
	}
	complete, found := false, false
	for at := range s.plan.PathLen() {
		state, err := s.obs.snapshot(ctx, s.plan.Snapshot(at))
		if err != nil {
			return err
		}
		complete = state.IsComplete()
		p := state.PendingStep()
		if p == nil {
			s.plan.NoStep()
			continue
		}
		group, main := 0, p.StepID
		if len(p.LoopPath) > 0 {
			main = p.LoopPath[0].LoopID
		}
		if g, known := groups[main]; known {
			group = g
		} else if len(steps) > 0 {
			group = -1
		}
		loop, _, in := strings.Cut(p.Key(), "@") // the key names a loop first
		if !in {
			loop = ""
		}
		named := only == "" || isNamed(*p, only)
		s.plan.Step(p.Key(), loop, group, named)
		found = found || named && group >= 0
	}
	inherited, err := s.obs.inheritedSteps(ctx, s.at.Run)
	if err != nil {
		return err
	}
	s.states = make([]StepState, len(steps))
	visited := s.plan.Visited(len(steps) + 1)
	listed := make([]bool, len(visited))
	// Backward, because a step without visits is to come only if no later step was reached.
	for ahead, i := !complete, len(steps)-1; i >= 0; i-- {
		switch s.states[i] = StepSkipped; {
		case visited[i]:
			ahead = false
		case slices.Contains(inherited, steps[i].StepID):
			s.states[i] = StepDone
			ahead = false // a step that came back may be before it
		case ahead:
			s.states[i] = StepToCome
		}
		listed[i] = !visited[i] && (only == "" || steps[i].StepID == only)
		found = found || listed[i]
	}
	most := 0
	if only != "" {
		if most = limits.StepsDetailedMax; !found && !s.workflow.Has(only) {
			return unknownStep(s.found.Run, only)
		}
		s.only, listed[len(steps)] = only, !found // of a loop that was not entered
	}
	s.head.OmittedSteps = s.plan.Order(listed, most)
	return nil
}

// unvisited returns the row of a step at which no node was pending, by its number in the workflow.
func (s *RunReading) unvisited(i int) StepRow {
	stepID, title, state := s.only, s.workflow.Title(s.only), StepToCome
	if i < len(s.states) {
		step := s.workflow.Steps()[i]
		stepID, title, state = step.StepID, step.Title, s.states[i]
	}
	now := s.at.Run.Node(s.at.Run.Tip).Context // names a step that was not shown
	return StepRow{StepID: stepID, StepInstanceKey: stepID, Title: prompt.Title(title, now).Text, State: state,
		Artifacts: []ArtifactRow{}, ContextSet: canon.OfMembers()}
}

// visitAt returns the step of a stop on the path.
func (p *runPass) visitAt(ctx context.Context, stop steplist.Stop) (v pathStep, err error) {
	for at := stop.First; at < stop.End; at++ {
		n := p.pass.Node(at)
		state, err := p.obs.snapshot(ctx, n.SnapshotRef)
		if err != nil {
			return v, err
		}
		pending := state.PendingStep()
		if pending == nil {
			continue
		}
		if v.done = p.pass.Node(at + 1); v.done != nil {
			// The outputs are those of the path, not of a branch that left the node later.
			if left := p.run.Before(v.done); left != nil && left.ID == n.ID {
				n = left
			}
		}
		v.pending, v.node, v.tried, v.attempts = *pending, n, append(v.tried, n), v.attempts+len(n.Attempts)
		v.checkpoints = append(v.checkpoints, p.run.CheckpointsAt(n)...)
		recap, ok := n.Recap()
		if notes := recap.Payload.NotesMarkdown; ok && notes != "" || len(v.tried) == 1 {
			v.notes, v.whole = notes, canon.Digest{}
			if whole, has := n.WholeNotes(); has {
				v.whole = whole.Payload.SHA256
			}
		}
	}
	return v, nil
}

// inheritedSteps returns the keys of the steps that were completed before a
// forked run began (docs/design.md#ends-and-branches). They have no node in
// this run and were not skipped.
func (o *observer) inheritedSteps(ctx context.Context, r *runs.Run) ([]string, error) {
	if r.Started.ForkedFrom == nil {
		return nil, nil
	}
	s, err := o.wholeSnapshot(ctx, r.Node(r.Order[0]).SnapshotRef)
	return s.CompletedKeys(), err
}

// titleAt returns the title of a step that is pending at a node, with the values of its context.
func titleAt(w compile.View, p snapshot.PendingStep, n *runs.Node) string {
	return prompt.Title(w.Title(p.StepID), interpreter.VariablesAt(w, p.LoopPath, n.Context)).Text
}

// titleOf returns the title of the step at a node, which is nil where the
// projection has none.
func (o *observer) titleOf(ctx context.Context, w compile.View, n *runs.Node, stepID string) string {
	if n == nil {
		return w.Title(stepID)
	}
	if s, err := o.snapshot(ctx, n.SnapshotRef); err == nil && s.PendingStep() != nil && s.PendingStep().StepID == stepID {
		return titleAt(w, *s.PendingStep(), n)
	}
	return prompt.Title(w.Title(stepID), n.Context).Text
}

// stepRow converts a step of the path to a row of the document.
func stepRow(w compile.View, v pathStep) StepRow {
	row := StepRow{StepID: v.pending.StepID, StepInstanceKey: v.pending.Key(), Title: titleAt(w, v.pending, v.node),
		State: StepPending, NodeID: &v.node.ID, Attempts: v.attempts, Notes: v.notes, FullNotes: v.whole,
		Checkpoints: v.checkpoints, Artifacts: []ArtifactRow{}}
	for _, n := range v.tried {
		row.Guarded = append(row.Guarded, n.Guarded...)
	}
	if v.done != nil {
		row.State, row.DoneAtMs = StepDone, v.done.CreatedAtMs
		if slices.ContainsFunc(v.node.Outputs, runs.Output.HandedIn) {
			row.ResultNote = runs.HandedInNote
		}
	}
	return row
}
