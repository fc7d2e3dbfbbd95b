package views

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Follower reads the new events of one run repeatedly. It is for one goroutine
// at a time.
type Follower struct {
	v       *Views
	Session id.Session
	Run     id.Run
	fold    *runs.Fold
	refs    map[id.Node]canon.Digest
	// annotationsHead is the head behind which annotations are reported.
	annotationsHead manifest.Head
}

// Follow begins to follow a run behind its current events, or from its first
// event if whole is set. Annotations are reported from now on in either case:
// they are notifications and not part of the run's history
// (docs/design.md#annotations). Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS,
// SESSION_UNHEALTHY.
func (o *Views) Follow(ctx context.Context, ref string, whole bool) (*Follower, error) {
	at, err := o.r.Lookup(ctx, ref)
	if err != nil {
		return nil, err
	}
	f := &Follower{v: o, Session: at.Session, Run: at.Run.ID, fold: runs.NewFold(),
		refs: map[id.Node]canon.Digest{}}
	// An unreadable log of annotations is reported by the first call for them.
	if t, _, err := o.r.Tally(ctx, at.Session); err == nil {
		f.annotationsHead = t.Head
	}
	if !whole {
		_, err = f.Next(ctx)
	}
	return f, err
}

// Fact is one event with its description in words.
type Fact struct {
	Event  event.Event
	Moment runs.TimelineEntry
}

// Next returns the events since the last call, nil if the log has no new ones.
// If the log is another history than before, it is reported from its beginning.
// SESSION_UNHEALTHY for a damaged log.
func (f *Follower) Next(ctx context.Context) ([]Fact, error) {
	var c *eventCollector
	log := manifest.SessionEvents(f.Session)
	v, err := ports.Continue(ctx, f.v.store, ports.ReadRequest{Log: log, From: f.fold.Head},
		func(from manifest.Head) ports.Visitor {
			c = &eventCollector{run: f.Run}
			if from.IsZero() {
				f.fold = runs.NewFold()
			}
			return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
				_ = c.Visit(seg, head) // always nil
				return f.fold.Visit(seg, head)
			})
		})
	if err != nil {
		return nil, err
	}
	if v.Damaged() {
		return nil, ports.Unhealthy(manifest.SessionEvents(f.Session), v)
	}
	// Snapshots are remembered for descriptions of later events.
	for _, e := range c.events {
		if p, ok := e.Data.(event.NodeCreated); ok {
			f.refs[e.Scope.NodeID] = p.SnapshotRef
		}
	}
	if len(c.events) == 0 {
		return nil, nil
	}
	obs := &observer{v: f.v}
	w, _ := obs.workflow(ctx, f.fold.Runs[f.Run].Started.WorkflowHash) // without it steps have no titles
	moments := runs.Timeline(c.events,
		func(n id.Node) runs.StepInfo { return obs.timelinePlace(ctx, w, f.fold.Runs[f.Run].Node(n), f.refs[n]) })
	out := make([]Fact, len(moments))
	for i := range moments {
		out[i] = Fact{c.events[i], moments[i]}
	}
	return out, nil
}

// Ended reports that no events will follow except after a rewind: the run is
// complete at its preferred tip, or closed.
func (f *Follower) Ended(ctx context.Context) (bool, error) {
	run := f.fold.Runs[f.Run]
	if run == nil {
		return false, nil
	}
	if run.Closed != nil {
		return true, nil
	}
	tip := run.Node(run.Tip)
	if tip == nil {
		return false, nil
	}
	s, err := (&observer{v: f.v}).snapshot(ctx, tip.SnapshotRef)
	return s.IsComplete(), err
}
