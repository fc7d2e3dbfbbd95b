package views

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// observer reads workflows and snapshots for use cases that only display them:
// in the form of this version and, as far as it is known, in the form of
// another program or version (docs/design.md#foreign-stores). It returns views;
// no use case that appends accepts one.
type observer struct {
	v *Views
	// foreign reports that an object in another form was read.
	foreign bool
	// pendings are some pending steps by snapshot.
	pendings map[canon.Digest]*snapshot.PendingStep
}

// pendingAt returns the pending step at a node, nil if there is none or its snapshot cannot be read.
func (o *observer) pendingAt(ctx context.Context, n *runs.Node) *snapshot.PendingStep {
	if p, known := o.pendings[n.SnapshotRef]; known {
		return p
	}
	s, err := o.snapshot(ctx, n.SnapshotRef)
	if err != nil {
		return nil
	}
	if len(o.pendings)%pendingsMax == 0 { // none yet, or many
		o.pendings = map[canon.Digest]*snapshot.PendingStep{}
	}
	o.pendings[n.SnapshotRef] = s.PendingStep()
	return s.PendingStep()
}

// pendingsMax bounds the pending steps that are kept: the records of a node follow each other.
const pendingsMax = 256

// health combines the health of a log with the forms of its objects: a snapshot
// or workflow in another form makes the session unknown_version, as an unknown
// event does.
func (o *observer) health(h manifest.Health) manifest.Health {
	if o.foreign && h == manifest.Healthy {
		return manifest.UnknownVersion
	}
	return h
}

// workflow returns a pinned workflow; the zero View if its form is unknown.
func (o *observer) workflow(ctx context.Context, hash canon.Digest) (compile.View, error) {
	w, err := o.v.r.Workflow(ctx, hash)
	if err == nil {
		return w.View(), nil
	}
	if !session.IsForeignForm(err) {
		return compile.View{}, err
	}
	o.foreign = true
	data, err := o.v.store.Object(ctx, manifest.Workflow, hash)
	if err != nil {
		return compile.View{}, err
	}
	v, err := compile.DecodeForeign(data)
	if err != nil && !session.IsForeignForm(err) {
		return v, err
	}
	return v, nil
}

// snapshot returns a snapshot without the keys of the completed steps; the zero View if its form is unknown.
func (o *observer) snapshot(ctx context.Context, ref canon.Digest) (snapshot.View, error) {
	if v, ok := session.ViewOf(o.v.r, ref); ok {
		return v, nil
	}
	foreign := o.foreign
	o.foreign = false
	v, err := o.wholeSnapshot(ctx, ref)
	if v = v.Brief(); err == nil && !o.foreign {
		session.KeepView(o.v.r, ref, v)
	}
	o.foreign = o.foreign || foreign
	return v, err
}

// wholeSnapshot returns a snapshot; the zero View if its form is unknown.
func (o *observer) wholeSnapshot(ctx context.Context, ref canon.Digest) (snapshot.View, error) {
	s, err := o.v.r.State(ctx, &runs.Node{SnapshotRef: ref})
	if err == nil {
		return s.View(), nil
	}
	if !errors.Is(err, snapshot.ErrUnknownShape) {
		return snapshot.View{}, err
	}
	o.foreign = true
	data, err := o.v.store.Object(ctx, manifest.Snapshot, ref)
	if err != nil {
		return snapshot.View{}, err
	}
	v, err := snapshot.DecodeForeign(data)
	if err != nil && !errors.Is(err, snapshot.ErrUnknownShape) {
		return v, err
	}
	return v, nil
}

// tip returns the pinned workflow of a run, the snapshot at its preferred tip,
// and what both imply for the run's status. Whether a step waits for an
// approval is computed only for forms that this version can execute.
func (o *observer) tip(ctx context.Context, r *runs.Run, n *runs.Node) (w compile.View, s snapshot.View,
	t runs.TipState, err error) {
	if w, err = o.workflow(ctx, r.Started.WorkflowHash); err != nil {
		return w, s, t, err
	}
	if s, err = o.snapshot(ctx, n.SnapshotRef); err != nil {
		return w, s, t, err
	}
	if !o.foreign {
		compiled, err := o.v.r.Workflow(ctx, r.Started.WorkflowHash)
		if err != nil {
			return w, s, t, err
		}
		state, err := o.v.r.State(ctx, n)
		return w, s, session.TipState(compiled, n, state), err
	}
	return w, s, runs.TipState{Complete: s.IsComplete(), Blocked: s.IsBlocked()}, nil
}

// status returns the status of a run at its preferred tip.
func (o *observer) status(ctx context.Context, r *runs.Run) (runs.Status, error) {
	tip := r.Node(r.Tip)
	if tip == nil {
		return "", fault.New(fault.Invariant, "run %s has no node", r.ID)
	}
	_, _, state, err := o.tip(ctx, r, tip)
	if err != nil {
		return "", err
	}
	return r.StatusAt(r.Tip, state), nil
}

// waitAt returns the wait of the step that is pending at the tip of an open run, nil without one and
// for forms that this version cannot execute.
func (o *observer) waitAt(ctx context.Context, r *runs.Run, n *runs.Node, status runs.Status) (*engine.PendingWait,
	error) {
	if o.foreign || status != runs.InProgress && status != runs.Blocked {
		return nil, nil
	}
	w, err := o.v.r.Workflow(ctx, r.Started.WorkflowHash)
	if err != nil || !w.Waits() {
		return nil, err
	}
	s, err := o.v.r.State(ctx, n)
	if err != nil {
		return nil, err
	}
	return engine.WaitAt(w, s, n), nil
}

// waitsFor returns what the step that is pending at the tip of an open run waits for besides a person,
// nil without anything.
func (o *observer) waitsFor(ctx context.Context, r *runs.Run, n *runs.Node, status runs.Status) (*engine.PendingNow,
	error) {
	wait, err := o.waitAt(ctx, r, n, status)
	if err != nil || wait != nil {
		return &engine.PendingNow{Wait: wait}, err
	}
	if o.foreign || status != runs.InProgress && status != runs.Blocked {
		return nil, nil
	}
	w, err := o.v.r.Workflow(ctx, r.Started.WorkflowHash)
	if err != nil || !w.HasHostSteps() {
		return nil, err
	}
	s, err := o.v.r.State(ctx, n)
	if err != nil {
		return nil, err
	}
	if h := engine.HostAt(w, s, n); h != nil {
		return &engine.PendingNow{Host: h}, nil
	}
	return nil, nil
}

// stepsDone counts the completed steps of a run at a node; those before a fork only for forms that
// this version can execute.
func (o *observer) stepsDone(ctx context.Context, r *runs.Run, n *runs.Node) (int64, error) {
	if o.foreign {
		return n.Depth, nil
	}
	w, err := o.v.r.Workflow(ctx, r.Started.WorkflowHash)
	if err != nil {
		return 0, err
	}
	return o.v.r.StepsDone(ctx, w, r, n)
}

// timelinePlace returns what a timeline displays about a node, which is nil
// where the projection has none. A snapshot that cannot be read yields a
// placeholder title and no error.
func (o *observer) timelinePlace(ctx context.Context, w compile.View, n *runs.Node, ref canon.Digest) runs.StepInfo {
	s, err := o.snapshot(ctx, ref)
	if err != nil {
		return runs.StepInfo{Title: unreadableStep}
	}
	var p runs.StepInfo
	if lacks := s.Blockers(); len(lacks) > 0 {
		p.Refused = lacks[0].Message
	}
	switch {
	case s.PendingStep() != nil && n != nil:
		p.Title = titleAt(w, *s.PendingStep(), n)
	case s.PendingStep() != nil:
		p.Title = w.Title(s.PendingStep().StepID)
	case !s.IsComplete():
		p.Title = unreadableStep
	}
	return p
}

// unreadableStep is displayed instead of a step title that cannot be read.
const unreadableStep = "a step that cannot be read"
