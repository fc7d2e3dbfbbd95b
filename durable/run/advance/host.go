package advance

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// Hosted is a pending step that the HTTP host performs (docs/design.md#host-steps).
type Hosted struct {
	hoststep.Step
	// DueMs is the moment until which a delay lasts, in milliseconds since 1970 UTC; 0: it is none.
	DueMs int64
	// ExpiresMs is the moment at which a gate fails without an answer; 0: never.
	ExpiresMs int64
}

// HostedAt returns the host step that is pending, false if the pending step is none. pendingMs is the
// time at which it became pending, context the one at its node.
func HostedAt(w compile.Compiled, state snapshot.State, pendingMs int64, context canon.Value) (Hosted, bool) {
	pending := state.PendingStep()
	if pending == nil {
		return Hosted{}, false
	}
	step, _ := w.Step(pending.StepID)
	if step.Host == nil {
		return Hosted{}, false
	}
	due, _ := host.DueAt(*step.Host, pendingMs, interpreter.Variables(w, state, context))
	expires, _ := host.ExpiresAt(*step.Host, pendingMs)
	return Hosted{*step.Host, due, expires}, true
}

// host requires the result of a host step: of this step, completed, and of a delay not before its
// moment. A result that is recorded stays one when the clock goes back.
func (q *requirements) host(pendingMs, nowMs int64) {
	if q.step.Host == nil {
		return
	}
	at := reason.WorkflowStep(q.step.StepID)
	const fix = "Nothing has to be done: 'waybill serve' performs the step, and nothing else does."
	all := q.artifacts(host.Kind)
	if len(all) == 0 {
		q.lacks(reason.MissingOutput, at, fix, "Step %q is performed by the host (%s) and has no result.", q.step.StepID,
			q.step.Host.TypeID)
		return
	}
	r, err := host.Decode(all[len(all)-1])
	due, delays := host.DueAt(*q.step.Host, pendingMs, q.vars)
	switch {
	case err != nil:
		q.invalid(host.Kind, at, fix, "The %s of step %q is not one: %v", host.Kind, q.step.StepID, err)
	case r.TypeID != q.step.Host.TypeID || r.StepInstanceKey != q.state.PendingStep().Key():
		q.invalid(host.Kind, at, fix, "The %s of step %q is of another step.", host.Kind, q.step.StepID)
	case r.Outcome == host.Waiting:
		q.lacks(reason.MissingOutput, at, "Others have to answer its interrupt.", "Step %q waits for answers: %s.", q.step.StepID,
			r.Progress(*q.step.Host))
	case !r.OK():
		q.invalid(host.Kind, at, "The host ends the run as failed.", "%s", host.FailedText(q.step.StepID, *r.Error))
	case delays && nowMs < due && len(q.fromAttempt(host.Kind)) > 0:
		q.invalid(host.Kind, at, fix, "The delay of step %q lasts until %s, and the attempt was made before.",
			q.step.StepID, event.TimeText(due))
	}
}
