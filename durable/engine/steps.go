package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections"
)

// visit is one step of a run's path: where it was or is pending, and the node that
// it led to.
type pathStep struct {
	pending  snapshot.PendingStep
	node     *projections.Node
	done     *projections.Node
	attempts int
	notes    string
}

// visits lists the steps from root to tip, in the order in which they were shown. A
// node that another program kept a refused attempt in is the step that was tried once
// more.
func (o *observer) pathSteps(ctx context.Context, r *projections.Run) (out []pathStep, complete bool, err error) {
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
		v := pathStep{pending: *p, node: n, attempts: len(n.Attempts)}
		if i+1 < len(path) {
			v.done = r.Node(path[i+1])
		}
		if recap, ok := n.Recap(); ok {
			v.notes = recap.Payload.NotesMarkdown
		}
		if last := len(out) - 1; last >= 0 && n.Kind == event.BlockedAttemptNode && out[last].pending.Key() == p.Key() {
			v.attempts += out[last].attempts
			if v.notes == "" {
				v.notes = out[last].notes
			}
			out = out[:last]
		}
		out = append(out, v)
	}
	return out, complete, nil
}

// steps lays the path from root to tip over the workflow's steps: what stands
// between two steps of the path was passed over. A loop has a row for each step that
// was shown in it, and one of its own only where nothing was. Steps of a workflow that
// cannot be read are those of the path.
func (o *observer) steps(ctx context.Context, w compile.View, r *projections.Run) ([]StepRow, error) {
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
	for _, step := range slices.Backward(w.Steps()) {
		seen := byMain[step.StepID]
		if len(seen) == 0 {
			state := StepSkipped
			switch {
			case slices.Contains(inherited, step.StepID):
				state = StepDone
			case ahead:
				state = StepToCome
			}
			rows = append(rows, StepRow{StepID: step.StepID, StepInstanceKey: step.StepID, Title: step.Title,
				State: state})
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

// brought lists the keys of what a forked run found done when it began: nobody did
// it here, and it was not passed over either (R23).
func (o *observer) inheritedSteps(ctx context.Context, r *projections.Run) ([]string, error) {
	if r.Started.ForkedFrom == nil {
		return nil, nil
	}
	s, err := o.snapshot(ctx, r.Node(r.Order[0]).SnapshotRef)
	return s.CompletedKeys(), err
}

func stepRow(w compile.View, v pathStep) StepRow {
	row := StepRow{StepID: v.pending.StepID, StepInstanceKey: v.pending.Key(), Title: w.Title(v.pending.StepID),
		State:  StepPending,
		NodeID: &v.node.ID, Attempts: v.attempts, Notes: v.notes}
	if v.done != nil {
		row.State, row.DoneAtMs = StepDone, v.done.CreatedAtMs
	}
	return row
}
