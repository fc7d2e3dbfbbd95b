package views

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// History is the document "timeline": the events of a run, described in words.
type History struct {
	RunID id.Run `json:"runId"`
	Title string `json:"title"`
	// Status is that of the run at its preferred tip, absent where its snapshot cannot be read.
	Status runs.Status     `json:"status,omitzero"`
	Health manifest.Health `json:"health"`
	// Partial reports that the session is damaged: these are the facts of its valid beginning.
	Partial  bool                 `json:"partial,omitzero"`
	Moments  []runs.TimelineEntry `json:"moments"`
	Findings []manifest.Finding   `json:"findings"`
}

// EachMoment describes the events of a run in order, and returns its history without them. It is one pass over the log of
// the session, in memory that does not depend on its length. ref is a run id, a unique prefix of one, or @last. If the
// workflow or a snapshot cannot be read, steps appear without their titles; the rest of the history is still shown. Errors:
// RUN_NOT_FOUND, also where the readable part of the session does not have the run; RUN_AMBIGUOUS; that of
// session.Unavailable, after what was read.
func EachMoment(ctx context.Context, v *Views, ref string, each func(runs.TimelineEntry) error) (History, error) {
	found, err := session.Find(ctx, v.r, ref)
	if err != nil {
		return History{}, err
	}
	before := v.store.Failures()
	d := &telling{run: found.Run, obs: &observer{v: v}, each: each, nodesMax: session.FoldNodesMax}
	verdict, err := d.pass(ctx, found.Session)
	if errors.Is(err, errMissedNode) {
		d.nodesMax = math.MaxInt
		verdict, err = d.pass(ctx, found.Session)
	}
	if err = cmp.Or(err, session.Unavailable(v.store, before)); err != nil {
		return History{}, err
	}
	run := d.fold.Runs[found.Run]
	if run == nil || run.Tip.IsZero() {
		return History{}, found.NotRead()
	}
	h := History{RunID: run.ID, Title: run.Started.Name(), Health: d.obs.health(verdict.Health), Partial: verdict.Damaged(),
		Moments: []runs.TimelineEntry{}, Findings: append([]manifest.Finding{}, verdict.Findings...)}
	h.Status, _ = d.obs.status(ctx, run) // the history is shown without it
	if d.workflowErr == nil {
		h.Title = cmp.Or(h.Title, d.workflow.Name(), run.Started.WorkflowID)
	}
	return h, session.Unavailable(v.store, before)
}

// telling is one reading of a history. It describes events in chunks, each with the state of the run behind the
// chunk: how a step is called may depend on what was recorded at it a little later.
type telling struct {
	run  id.Run
	each func(runs.TimelineEntry) error

	fold     *runs.Fold
	nodesMax int // of fold
	obs      *observer
	branches *runs.Branches
	events   []event.Event // of the chunk
	bytes    int           // of its lines
	moments  []runs.TimelineEntry
	next     int64 // index of the first event that was not described

	workflow       compile.View
	workflowErr    error
	workflowLoaded bool
}

// The sizes of the segments of a chunk at which it is described. Nearly every run is one chunk; others need little memory.
const firstChunkBytesMax, chunkBytesMax = 2 << 20, 512 << 10

// errMissedNode reports that an event refers to a node that the window of the fold does not have: the log is read
// again with a whole fold.
var errMissedNode = errors.New("an event refers to a node that was left out")

// pass reads the log of a session from its beginning.
func (d *telling) pass(ctx context.Context, s id.Session) (manifest.Verdict, error) {
	d.fold, d.branches, d.events, d.bytes = runs.NewFold(), runs.NewBranches(), nil, 0
	v, err := session.EachNode(ctx, d.obs.v.r, s, func(seg manifest.Segment, head manifest.Head) error {
		return d.add(ctx, seg, head)
	})
	if err != nil {
		return v, err
	}
	return v, d.tell(ctx)
}

// add adds a segment to the chunk.
func (d *telling) add(ctx context.Context, seg manifest.Segment, head manifest.Head) error {
	_ = d.fold.Visit(seg, head) // always nil
	for _, e := range seg.Events {
		switch {
		case !ofRun(e, d.run):
		case e.Index < d.next: // described by an earlier pass
			d.branches.Mark(&runs.TimelineEntry{}, e)
		default:
			d.events, d.bytes = append(d.events, e), d.bytes+int(seg.Size)/len(seg.Events)
		}
	}
	if (d.bytes < chunkBytesMax || d.next == 0 && d.bytes < firstChunkBytesMax) && session.NodeCount(d.fold) <= d.nodesMax {
		return nil
	}
	if err := d.tell(ctx); err != nil {
		return err
	}
	d.nodesMax = session.Reduce(d.fold, d.nodesMax)
	return nil
}

// tell describes the chunk.
func (d *telling) tell(ctx context.Context) error {
	if d.fold.Missed() {
		return errMissedNode
	}
	run := d.fold.Runs[d.run]
	if run != nil && !d.workflowLoaded {
		d.workflow, d.workflowErr = d.obs.workflow(ctx, run.Started.WorkflowHash)
		d.workflowLoaded = true
	}
	d.moments = runs.AppendTimeline(d.moments[:0], d.events, stepInfo(ctx, d.obs, d.workflow, run, d.events))
	for i, e := range d.events {
		d.branches.Mark(&d.moments[i], e)
	}
	clear(d.events) // they are not kept until the slice is filled again
	d.events, d.bytes = d.events[:0], 0
	for _, m := range d.moments {
		d.next = m.Index + 1
		if err := d.each(m); err != nil {
			return err
		}
	}
	return nil
}

// stepInfo returns what a timeline displays about the nodes of a run, which is nil for one that is not known yet.
// events are those that are described: they may create nodes that the run does not have.
func stepInfo(ctx context.Context, o *observer, w compile.View, run *runs.Run,
	events []event.Event) runs.StepInfoFunc {
	refs := sync.OnceValue(func() map[id.Node]canon.Digest {
		out := map[id.Node]canon.Digest{}
		for _, e := range events {
			if p, ok := e.Data.(event.NodeCreated); ok {
				out[e.Scope.NodeID] = p.SnapshotRef
			}
		}
		return out
	})
	return func(n id.Node) runs.StepInfo {
		if run != nil {
			if node := run.Node(n); node != nil {
				return o.timelinePlace(ctx, w, node, node.SnapshotRef)
			}
		}
		return o.timelinePlace(ctx, w, nil, refs()[n])
	}
}

// ofRun reports an event of a run, or one that belongs to no run.
func ofRun(e event.Event, run id.Run) bool { return e.Scope.RunID == run || e.Scope.RunID.IsZero() }
