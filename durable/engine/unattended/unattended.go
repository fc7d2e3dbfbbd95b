// Package unattended finds the runs that a program continues without a person or an agent: those whose wait is over,
// and those whose pending step only a command or the host performs. It appends nothing.
//
// Start reading at Finder.Unattended and Finder.Due.
package unattended

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
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
}

// New returns a finder in what r reads, which is s.
func New(r *session.Reader, s views.Source, here views.Here) *Finder { return &Finder{r, s, here} }

// UnattendedRun is an open run whose pending step needs neither a person nor an agent
// (docs/design.md#host-steps).
type UnattendedRun struct {
	SessionID id.Session
	RunID     id.Run
	// StepID is the pending step, "" for a run whose end is requested.
	StepID string
	// AtMs is the moment until which the step waits, in milliseconds since 1970 UTC; 0: it waits for none.
	AtMs int64
}

// Unattended lists the runs that a server continues at its start, in the order of their ids: the pending
// step is a command that was not tried yet, waits until a moment, or is one of the host that is to be
// performed, was approved, or failed; or the end of the run is requested. A command that was tried and
// refused is left to a person. Paused runs, imported runs that no person has continued here, runs of damaged sessions
// and of other programs and versions are left out. The sessions that could not be read follow. The errors are
// those of a list of runs.
func (o *Finder) Unattended(ctx context.Context) (list []UnattendedRun, unreadable []views.Unreadable, err error) {
	_, err = session.Whole(o.store, func() (struct{}, error) {
		list, unreadable, err = o.unattended(ctx)
		return struct{}{}, err
	})
	return list, unreadable, err
}

// unattended is Unattended, with unreadable sessions where no file descriptor was left.
func (o *Finder) unattended(ctx context.Context) (list []UnattendedRun, unreadable []views.Unreadable, err error) {
	all, err := o.store.Sessions(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		fold, v, err := o.r.ReadWindowed(ctx, s)
		if err == nil && !v.Unborn() && v.Health == manifest.Healthy {
			err = o.unattendedOf(ctx, s, fold, &list)
		}
		if err != nil {
			unreadable = append(unreadable, views.Unreadable{SessionID: s, Health: cmp.Or(v.Health, manifest.CorruptHead),
				Message: fault.Of(err).Message})
		}
	}
	return list, unreadable, nil
}

// unattendedOf adds the runs of a session.
func (o *Finder) unattendedOf(ctx context.Context, s id.Session, fold *runs.Fold, list *[]UnattendedRun) error {
	for _, runID := range fold.Order {
		r := fold.Runs[runID]
		tip := r.Node(r.Tip)
		if tip == nil || r.Closed != nil {
			continue
		}
		p := session.Resolved{At: engine.Position{Session: s, Run: runID, Node: r.Tip}, Fold: fold, Run: r, Node: tip}
		row, ok, err := o.unattendedAt(ctx, p)
		switch {
		case err != nil && session.IsForeignForm(err), err == nil && !ok:
			continue
		case err != nil:
			return err
		}
		if o.here.Imported != nil {
			foreign, err := o.here.Imported(ctx, manifest.SessionEvents(s))
			if err != nil {
				return err
			}
			if foreign.Has(r.LastIndex) {
				continue
			}
		}
		row.SessionID, row.RunID = s, runID
		*list = append(*list, row)
	}
	return nil
}

// unattendedAt reports whether the run of a place is to be continued there.
func (o *Finder) unattendedAt(ctx context.Context, p session.Resolved) (row UnattendedRun, ok bool, err error) {
	if p.Run.Started.ForkedFrom.IsReplay() {
		return row, false, nil // it takes no steps of its own
	}
	if p.Run.CancelRequested != nil {
		return row, true, nil
	}
	if p.Run.Paused() {
		return row, false, nil
	}
	w, err := o.r.Workflow(ctx, p.Run.Started.WorkflowHash)
	if err != nil || !w.Waits() && !w.HasActions() && !w.HasHostSteps() {
		return row, false, err
	}
	state, err := o.r.State(ctx, p.Node)
	if err != nil || state.PendingStep() == nil {
		return row, false, err
	}
	row.StepID = state.PendingStep().StepID
	step, _ := w.Step(row.StepID)
	switch {
	case step.Host != nil:
		pending := engine.HostAt(w, state, p.Node)
		row.AtMs = pending.UntilMs
		isResult := func(out runs.Output) bool {
			return out.Payload.ArtifactKind == host.Kind && p.Node.OfBranch(out)
		}
		if slices.ContainsFunc(p.Node.Outputs, isResult) {
			row.AtMs = 0
			ok, err = o.resumesHost(ctx, p)
		} else {
			ok = !step.Host.Gate()
		}
		if err == nil && !ok && step.Host.Gate() { // it is answered from outside, or its time ends
			row.AtMs, ok = pending.ExpiresMs, pending.ExpiresMs != 0
		}
		return row, ok, err
	case step.Wait != nil:
		at := engine.WaitAt(w, state, p.Node)
		if at == nil || at.Unset != "" {
			return row, false, nil
		}
		row.AtMs = at.UntilMs
		return row, true, nil
	}
	return row, unattended(step) && len(p.Node.Attempts) == 0, nil
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

// UnattendedState is what a server knows of one run. At most one of Ended and Ready is set.
type UnattendedState struct {
	Ended bool // no step of the run is to be performed any more
	Ready bool // as a row of Unattended
	AtMs  int64
}

// UnattendedRun reports whether one run is to be continued by a server, as Unattended lists it. Errors: RUN_NOT_FOUND for a
// session without the run, SESSION_UNHEALTHY.
func (o *Finder) UnattendedRun(ctx context.Context, s id.Session, run id.Run) (out UnattendedState, err error) {
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
	if out.Ended = r.Closed != nil || state.IsComplete(); out.Ended {
		return out, nil
	}
	row, ok, err := o.unattendedAt(ctx, session.Resolved{At: engine.Position{Session: s, Run: run, Node: r.Tip}, Fold: fold,
		Run: r, Node: r.Node(r.Tip)})
	out.Ready, out.AtMs = ok, row.AtMs
	return out, err
}
