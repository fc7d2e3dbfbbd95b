package views

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// pathStep is one step on a run's path: the node at which it is pending, and
// the node that it led to.
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

// pathSteps lists the steps from root to tip in the order in which they became
// pending. A blocked_attempt node, which another program writes for a refused
// attempt, is merged into the step before it. complete reports that the tip is
// the end of the run.
func (o *observer) pathSteps(ctx context.Context, r *runs.Run) (out []pathStep, complete bool, err error) {
	path := r.Path(r.Tip)
	for i, nodeID := range path {
		n := r.Node(nodeID)
		state, err := o.snapshot(ctx, n.SnapshotRef)
		if err != nil {
			return nil, false, err
		}
		complete = state.IsComplete()
		p := state.PendingStep()
		if p == nil {
			continue
		}
		var done *runs.Node
		if i+1 < len(path) {
			done = r.Node(path[i+1])
			// The outputs are those of the path, not of a branch that left the node later.
			if left := r.Before(done); left != nil && left.ID == n.ID {
				n = left
			}
		}
		v := pathStep{pending: *p, node: n, done: done, tried: []*runs.Node{n}, attempts: len(n.Attempts),
			checkpoints: r.CheckpointsAt(n)}
		if recap, ok := n.Recap(); ok {
			v.notes = recap.Payload.NotesMarkdown
			whole, _ := n.WholeNotes()
			v.whole = whole.Payload.SHA256
		}
		if last := len(out) - 1; last >= 0 && n.Kind == event.BlockedAttemptNode && out[last].pending.Key() == p.Key() {
			v.attempts += out[last].attempts
			v.tried = append(out[last].tried, n)
			v.checkpoints = append(out[last].checkpoints, v.checkpoints...)
			if v.notes == "" {
				v.notes, v.whole = out[last].notes, out[last].whole
			}
			out = out[:last]
		}
		out = append(out, v)
	}
	return out, complete, nil
}

// steps merges the path from root to tip with the steps of the workflow. A step
// between two steps of the path was skipped; one behind the path is to come, or
// skipped if the run is complete. Each step that was pending in a loop has its
// own row; a loop in which none was has one row. If the workflow cannot be
// read, only the steps of the path are listed.
func (o *observer) steps(ctx context.Context, w compile.View, r *runs.Run) ([]StepRow, error) {
	all, complete, err := o.pathSteps(ctx, r)
	if err != nil {
		return nil, err
	}
	rows := []StepRow{}
	if len(w.Steps()) == 0 {
		for _, v := range all {
			rows = append(rows, stepRow(w, v))
		}
		return rows, nil
	}
	byMain := map[string][]pathStep{} // by the step or loop of the main sequence
	for _, v := range all {
		main := v.pending.StepID
		if len(v.pending.LoopPath) > 0 {
			main = v.pending.LoopPath[0].LoopID
		}
		byMain[main] = append(byMain[main], v)
	}
	inherited, err := o.inheritedSteps(ctx, r)
	if err != nil {
		return nil, err
	}
	ahead := !complete
	now := canon.OfMembers() // values with which a step that was not shown is named
	if n := r.Node(r.Tip); n != nil {
		now = n.Context
	}
	// Backward, because a step without visits is to come only if no later step
	// was reached.
	for _, step := range slices.Backward(w.Steps()) {
		seen := byMain[step.StepID]
		if len(seen) == 0 {
			state := StepSkipped
			switch {
			case slices.Contains(inherited, step.StepID):
				state = StepDone
				ahead = false // a step that came back may be before it
			case ahead:
				state = StepToCome
			}
			rows = append(rows, StepRow{StepID: step.StepID, StepInstanceKey: step.StepID,
				Title: prompt.Title(step.Title, now).Text, State: state, Artifacts: []ArtifactRow{},
				ContextSet: canon.OfMembers()})
			continue
		}
		ahead = false
		for _, v := range slices.Backward(seen) {
			rows = append(rows, stepRow(w, v))
		}
	}
	slices.Reverse(rows)
	return rows, nil
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
		Checkpoints: v.checkpoints, Artifacts: []ArtifactRow{}, visit: v}
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
