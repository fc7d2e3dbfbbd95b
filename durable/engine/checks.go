package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Checks performs the checks of a step that a caller hands in who performs no commands
// (docs/design.md#checks).
type Checks interface {
	// Perform runs the checks as the performer of the session, and calls record with their results
	// before it releases the session. Without an error record was called once.
	Perform(ctx context.Context, in HandIn, record func(ports.Hold, []advance.Artifact) error) error
}

// HandIn is a step that is handed in.
type HandIn struct {
	At              Position
	Attempt         id.Attempt
	StepInstanceKey string
	Workflow        compile.Compiled
	Step            compile.Step
	Context         canon.Value // of the node, with the attempt's delta
}

// WithChecks returns the engine with what performs the checks of steps that Advance and Continue hand
// in. Without it a step with checks is WORKFLOW_UNTRUSTED.
func (e *Engine) WithChecks(c Checks) *Engine {
	out := *e
	out.checks = c
	return &out
}

// handIn makes an attempt at a step with checks, whose results are added; done is false for a step
// without. What the decision would refuse anyway is refused before a check runs.
func (e *Engine) handIn(ctx context.Context, at Position, h *session.History, p session.Resolved,
	attempt advance.Attempt) (a Answer, done bool, err error) {
	w, state, err := e.Load(ctx, p)
	pending := state.PendingStep()
	if err != nil || pending == nil {
		return a, false, nil // reported where the attempt is decided
	}
	step, _ := w.Step(pending.StepID)
	if len(step.Checks) == 0 {
		return a, false, nil
	}
	req := attempt.Request
	if err := CheckAttempt(p, attempt.ID); err != nil {
		return a, true, err
	}
	if err := refuseEarly(p, w, advance.Facts{State: state}, attempt); err != nil {
		return a, true, err
	}
	if err := req.Check(); err != nil {
		return a, true, err
	}
	if e.checks == nil {
		return a, true, Untrusted(w)
	}
	in := HandIn{At: at, Attempt: attempt.ID, StepInstanceKey: pending.Key(), Workflow: w, Step: step,
		Context: event.MergeContext(p.Node.Context, req.Context)}
	h.Keep()
	err = e.checks.Perform(ctx, in, func(hold ports.Hold, results []advance.Artifact) error {
		leave, err := hold.Enter(at.Session)
		if err != nil {
			return err
		}
		defer leave()
		attempt.Performed, attempt.Lease = true, hold.Token()
		attempt.Request.Artifacts = slices.Concat(req.Artifacts, results)
		// What was observed is recorded, also if the caller is gone.
		a, err = e.advance(context.WithoutCancel(ctx), at, attempt)
		return err
	})
	return a, true, err
}

// Untrusted is WORKFLOW_UNTRUSTED for a workflow whose checks may not run here.
func Untrusted(w compile.Compiled) error {
	return fault.New(fault.WorkflowUntrusted,
		"the step has checks, and this version of the workflow %q is not trusted here: nothing was run or recorded", w.WorkflowID).
		Suggest("A person reads its commands and allows them with %s at a terminal, in the folder of the project; then send "+
			"the same call again.", fault.Command{"trust", w.Hash().String()}).
		With("workflowId", w.WorkflowID).With("workflowHash", w.Hash().String())
}
