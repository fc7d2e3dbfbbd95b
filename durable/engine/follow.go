package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Following is a look at what is new in one run, again and again. It is for one
// caller at a time.
type Following struct {
	g               *Engine
	Session         id.Session
	Run             id.Run
	fold            *projections.Fold
	refs            map[id.Node]canon.Digest
	annotationsHead manifest.Head // of the annotations' log: what lies before it is not told
}

// Follow begins at the facts that a run has now; with whole, at its first one. Annotations
// are told from now on either way: the notification of one is live, and no fact of the
// run's history (RFC 0056 D).
func (g *Engine) Follow(ctx context.Context, ref string, whole bool) (*Following, error) {
	at, err := g.lookup(ctx, ref)
	if err != nil {
		return nil, err
	}
	f := &Following{g: g, Session: at.session, Run: at.run.ID, fold: projections.NewFold(),
		refs: map[id.Node]canon.Digest{}}
	// What cannot be read of the annotations is said when they are asked for.
	if t, _, err := g.tally(ctx, at.session); err == nil {
		f.annotationsHead = t.Head
	}
	if !whole {
		_, err = f.Next(ctx)
	}
	return f, err
}

// Fact is one event, and what it says in words.
type Fact struct {
	Event  event.Event
	Moment projections.Moment
}

// Next gives what is new since the last call, nothing where nothing is.
func (f *Following) Next(ctx context.Context) ([]Fact, error) {
	c := &eventCollector{run: f.Run}
	both := tee{c, f.fold}
	log := manifest.SessionEvents(f.Session)
	v, err := f.g.Logs.Read(ctx, ports.Reading{Log: log, From: f.fold.Head}, both)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// A power cut, or a restored copy, took what was told: it is another history, and
		// told from its beginning.
		both.Reset()
		v, err = f.g.Logs.Read(ctx, ports.Reading{Log: log}, both)
	}
	if err != nil {
		return nil, err
	}
	if v.Damaged() {
		return nil, ports.Unhealthy(manifest.SessionEvents(f.Session), v)
	}
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
	moments := projections.Timeline(c.events,
		func(n id.Node) projections.Place { return obs.timelinePlace(ctx, w, f.refs[n]) })
	out := make([]Fact, len(moments))
	for i := range moments {
		out[i] = Fact{c.events[i], moments[i]}
	}
	return out, nil
}

// Over reports that nothing more will come but by a rewind: the run is complete at
// its tip, or closed.
func (f *Following) Over(ctx context.Context) (bool, error) {
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

// tee shows each segment to both.
type tee struct {
	events *eventCollector
	fold   *projections.Fold
}

// Reset starts both over.
func (t tee) Reset() {
	t.events.Reset()
	t.fold.Reset()
}

// Visit shows a segment.
func (t tee) Visit(seg manifest.Segment, head manifest.Head) error {
	if err := t.events.Visit(seg, head); err != nil {
		return err
	}
	return t.fold.Visit(seg, head)
}
