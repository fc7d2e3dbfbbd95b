package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections"
)

// onlooker reads what a run rests on for whoever only looks: in our forms, and where
// another program or version wrote it, as far as it is known (R14). What it gives are
// views, which nothing that writes can take.
type observer struct {
	g       *Engine
	foreign bool // something of another form was met
}

// health is that of a log, with what was met beside it: snapshots and workflows of
// another form make a session's version unknown as events do.
func (o *observer) health(h manifest.Health) manifest.Health {
	if o.foreign && h == manifest.Healthy {
		return manifest.UnknownVersion
	}
	return h
}

// workflow is the pinned workflow; the zero View where its form says nothing to us.
func (o *observer) workflow(ctx context.Context, hash canon.Digest) (compile.View, error) {
	w, err := o.g.workflow(ctx, hash)
	if err == nil {
		return w.View(), nil
	}
	if !isForeignForm(err) {
		return compile.View{}, err
	}
	o.foreign = true
	data, err := o.g.Objects.Object(ctx, manifest.Workflow, hash)
	if err != nil {
		return compile.View{}, err
	}
	v, err := compile.DecodeForeign(data)
	if err != nil && !isForeignForm(err) {
		return v, err
	}
	return v, nil
}

// snapshot is a node's; the zero View where its form says nothing to us.
func (o *observer) snapshot(ctx context.Context, ref canon.Digest) (snapshot.View, error) {
	s, err := o.g.state(ctx, &projections.Node{SnapshotRef: ref})
	if err == nil {
		return s.View(), nil
	}
	if !errors.Is(err, snapshot.ErrUnknownShape) {
		return snapshot.View{}, err
	}
	o.foreign = true
	data, err := o.g.Objects.Object(ctx, manifest.Snapshot, ref)
	if err != nil {
		return snapshot.View{}, err
	}
	v, err := snapshot.DecodeForeign(data)
	if err != nil && !errors.Is(err, snapshot.ErrUnknownShape) {
		return v, err
	}
	return v, nil
}

// tip is the pinned workflow of a run, the snapshot at its preferred tip, and what they
// say about its status. Whether a step waits for an approval is asked only of what this
// version runs.
func (o *observer) tip(ctx context.Context, r *projections.Run, n *projections.Node) (w compile.View, s snapshot.View,
	t projections.TipState, err error) {
	if w, err = o.workflow(ctx, r.Started.WorkflowHash); err != nil {
		return w, s, t, err
	}
	if s, err = o.snapshot(ctx, n.SnapshotRef); err != nil {
		return w, s, t, err
	}
	if !o.foreign {
		compiled, err := o.g.workflow(ctx, r.Started.WorkflowHash)
		if err != nil {
			return w, s, t, err
		}
		state, err := o.g.state(ctx, n)
		return w, s, tipState(compiled, n, state), err
	}
	return w, s, projections.TipState{Complete: s.IsComplete(), Blocked: s.IsBlocked()}, nil
}

// place is what a timeline says about a node. What cannot be read has no title:
// history is told as far as it can be.
func (o *observer) timelinePlace(ctx context.Context, w compile.View, ref canon.Digest) projections.Place {
	s, err := o.snapshot(ctx, ref)
	if err != nil {
		return projections.Place{Title: unreadableStep}
	}
	var p projections.Place
	if lacks := s.Lacks(); len(lacks) > 0 {
		p.Refused = lacks[0].Message
	}
	switch {
	case s.PendingStep() != nil:
		p.Title = w.Title(s.PendingStep().StepID)
	case !s.IsComplete():
		p.Title = unreadableStep
	}
	return p
}

const unreadableStep = "a step that cannot be read"
