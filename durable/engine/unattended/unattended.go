// Package unattended finds the runs that a program continues without a person or an agent: those whose wait is over,
// and those whose pending step only a command or the host performs. It appends nothing.
//
// Start reading at Finder.PendingOf and Finder.Due.
package unattended

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Finder finds runs of one store. It is safe for concurrent use.
type Finder struct {
	r     *session.Reader
	store views.Source
	here  views.Here
	// Index has what is pending of the runs of sessions that did not change; nil: Due reads every session.
	Index index.Catalogue
}

// New returns a finder in what r reads, which is s.
func New(r *session.Reader, s views.Source, here views.Here) *Finder {
	return &Finder{r: r, store: s, here: here}
}

// PendingOf returns what a performer that asks no person needs to know of a run (docs/design.md#performing-runs). The
// pending step is a command that was not tried yet, waits until a moment, or is one of the host that is to be
// performed, was approved, or failed; or the end of the run is requested. A command that was tried and
// refused is left to a person: nothing is pending. That holds for paused runs and for those of other programs and
// versions, too. Errors are those of reading the pinned workflow, the state of the run and the marks of imports.
func (o *Finder) PendingOf(ctx context.Context, s id.Session, fold *runs.Fold, r *runs.Run) (out manifest.Pending, err error) {
	tip := r.Node(r.Tip)
	if tip == nil || r.Closed != nil {
		return out, nil
	}
	at := session.Resolved{At: engine.Position{Session: s, Run: r.ID, Node: r.Tip}, Fold: fold, Run: r, Node: tip}
	out, err = o.pendingAt(ctx, at)
	if err != nil && session.IsForeignForm(err) || err == nil && out.Kind == manifest.NothingPending {
		return manifest.Pending{}, nil
	}
	if err != nil {
		return out, err
	}
	out.Tags, out.Workflow = r.Started.Tags, r.Started.WorkflowHash
	if o.here.Imported != nil {
		foreign, err := o.here.Imported(ctx, manifest.SessionEvents(s))
		if err != nil {
			return manifest.Pending{}, err
		}
		out.Imported = foreign.Has(r.LastIndex)
	}
	return out, nil
}

// pendingAt returns the kind and the moment of what is pending at a place.
func (o *Finder) pendingAt(ctx context.Context, p session.Resolved) (out manifest.Pending, err error) {
	switch {
	case p.Run.Started.ForkedFrom.IsReplay(): // it takes no steps of its own
		return out, nil
	case p.Run.CancelRequested != nil:
		return manifest.Pending{Kind: manifest.EndPending}, nil
	case p.Run.Paused():
		return out, nil
	}
	w, err := o.r.Workflow(ctx, p.Run.Started.WorkflowHash)
	if err != nil || !w.Waits() && !w.HasActions() && !w.HasHostSteps() {
		return out, err
	}
	state, err := o.r.State(ctx, p.Node)
	if err != nil || state.PendingStep() == nil {
		return out, err
	}
	step, _ := w.Step(state.PendingStep().StepID)
	switch {
	case step.Host != nil:
		return o.pendingHost(ctx, p, engine.HostAt(w, state, p.Node), step.Host.Gate())
	case step.Wait != nil:
		if at := engine.WaitAt(w, state, p.Node); at != nil && at.Unset == "" {
			return manifest.Pending{Kind: manifest.WaitPending, AtMs: at.UntilMs}, nil
		}
	case unattended(step) && len(p.Node.Attempts) == 0:
		return manifest.Pending{Kind: manifest.CommandPending}, nil
	}
	return out, nil
}

// pendingHost is pendingAt for a step of the host.
func (o *Finder) pendingHost(ctx context.Context, p session.Resolved, at *engine.PendingHost, gate bool) (out manifest.Pending,
	err error) {
	isResult := func(out runs.Output) bool {
		return out.Payload.ArtifactKind == host.Kind && p.Node.OfBranch(out)
	}
	ok := !gate
	if out.AtMs = at.UntilMs; slices.ContainsFunc(p.Node.Outputs, isResult) {
		out.AtMs = 0
		ok, err = o.resumesHost(ctx, p)
	}
	if err == nil && !ok && gate { // it is answered from outside, or its time ends
		out.AtMs, ok = at.ExpiresMs, at.ExpiresMs != 0
	}
	if ok {
		out.Kind = manifest.HostPending
	}
	return out, err
}

// resumesHost reports whether a host step whose result is recorded is to be continued: it failed, so that
// the run has to be ended, or its result is approved.
func (o *Finder) resumesHost(ctx context.Context, p session.Resolved) (bool, error) {
	result, err := o.r.HostResult(ctx, p.Node)
	if err != nil || result.Error != nil {
		return result.Error != nil, err
	}
	if o.here.Approval == nil {
		return false, nil
	}
	needs, err := o.here.Approval(ctx, p)
	return needs != nil && needs.Given >= needs.Needed, err
}

// State is what is known of one run.
type State struct {
	Ended bool // no step of the run is to be performed any more; nothing is pending
	manifest.Pending
	LastIndex int64 // of the run's last activity
}

// PendingOfRun returns what is pending of one run, as it is in the log. Errors: RUN_NOT_FOUND for a
// session without the run, SESSION_UNHEALTHY.
func (o *Finder) PendingOfRun(ctx context.Context, s id.Session, run id.Run) (out State, err error) {
	fold, v, err := o.r.ReadWindowed(ctx, s)
	if err != nil {
		return out, err
	}
	if v.Health != manifest.Healthy {
		return out, ports.Unhealthy(manifest.SessionEvents(s), v)
	}
	r := fold.Runs[run]
	if r == nil || r.Node(r.Tip) == nil {
		return out, fault.New(fault.RunNotFound, "session %s holds no run %s", s, run)
	}
	state, err := o.r.State(ctx, r.Node(r.Tip))
	if err != nil {
		return out, err
	}
	out.LastIndex = r.LastIndex
	if out.Ended = r.Closed != nil || state.IsComplete(); !out.Ended {
		out.Pending, err = o.PendingOf(ctx, s, fold, r)
	}
	return out, err
}
