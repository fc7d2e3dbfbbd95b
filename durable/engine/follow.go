package engine

import (
	"context"
	"errors"

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
	g       *Engine
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
func (g *Engine) Follow(ctx context.Context, ref string, whole bool) (*Follower, error) {
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return nil, err
	}
	f := &Follower{g: g, Session: at.session, Run: at.run.ID, fold: runs.NewFold(),
		refs: map[id.Node]canon.Digest{}}
	// An unreadable log of annotations is reported by the first call for them.
	if t, _, err := g.tally(ctx, at.session); err == nil {
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
	c := &eventCollector{run: f.Run}
	both := tee{c, f.fold}
	log := manifest.SessionEvents(f.Session)
	v, err := f.g.Logs.Read(ctx, ports.ReadRequest{Log: log, From: f.fold.Head}, both)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// The log was replaced after a power cut or by a restored copy. It is
		// another history, and is reported from its beginning.
		both.Reset()
		v, err = f.g.Logs.Read(ctx, ports.ReadRequest{Log: log}, both)
	}
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
	obs := &observer{g: f.g}
	w, _ := obs.workflow(ctx, f.fold.Runs[f.Run].Started.WorkflowHash) // without it steps have no titles
	moments := runs.Timeline(c.events,
		func(n id.Node) runs.StepInfo { return obs.timelinePlace(ctx, w, f.refs[n]) })
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
	s, err := (&observer{g: f.g}).snapshot(ctx, tip.SnapshotRef)
	return s.IsComplete(), err
}

// tee passes each segment to a collector and to a fold.
type tee struct {
	events *eventCollector
	fold   *runs.Fold
}

// Reset implements ports.Visitor.
func (t tee) Reset() {
	t.events.Reset()
	t.fold.Reset()
}

// Visit implements ports.Visitor.
func (t tee) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := t.events.Visit(seg, head); err != nil {
		return err
	}
	return t.fold.Visit(seg, head)
}
