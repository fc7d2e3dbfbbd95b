package advance

import (
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// IsObserved reports whether artifacts of a kind are what a performer observed: the result of a
// command, of a check or of a host step, or the end of a wait. They count only if the performer of the session sends
// them, and the engine is their actor (docs/design.md#commands-and-trust, docs/design.md#waiting,
// docs/design.md#host-steps).
func IsObserved(kind string) bool {
	return kind == command.Kind || kind == wait.Kind || kind == check.Kind || kind == host.Kind
}

// Waiting is the moment until which a step waits.
type Waiting struct {
	// DueMs is in milliseconds since 1970 UTC.
	DueMs int64
	// Unfilled says why there is none, nil if there is one.
	Unfilled *wait.Unfilled
}

// WaitAt returns the wait of the pending step, false if it has none. pendingMs is the time at which
// the step became pending, context the one at its node. It is a function of the log and reads no
// clock.
func WaitAt(w compile.Compiled, state snapshot.State, pendingMs int64, context canon.Value) (Waiting, bool) {
	pending := state.PendingStep()
	if pending == nil {
		return Waiting{}, false
	}
	step, _ := w.Step(pending.StepID)
	if step.Wait == nil {
		return Waiting{}, false
	}
	due, why := dueAt(step, pendingMs, interpreter.Variables(w, state, context))
	return Waiting{due, why}, true
}

// dueAt is wait.DueAt for a step that waits, with its error as a value.
func dueAt(step compile.Step, pendingMs int64, vars canon.Value) (int64, *wait.Unfilled) {
	at, err := wait.DueAt(*step.Wait, pendingMs, vars)
	var why *wait.Unfilled
	if errors.As(err, &why) {
		return 0, why
	}
	return at, nil
}

// wait requires the end of a wait: recorded at this node, and not before it was due. One that is
// recorded stays over when the clock goes back (docs/design.md#waiting).
func (q *requirements) wait(pendingMs, nowMs int64) {
	if q.step.Wait == nil {
		return
	}
	at := reason.WorkflowStep(q.step.StepID)
	due, unfilled := dueAt(q.step, pendingMs, q.vars)
	if unfilled != nil {
		q.lacks(reason.MissingOutput, reason.ContextKey(unfilled.Key),
			"Send the instant as context, such as 2026-12-01T09:00:00Z, or let a person give it to 'waybill run --run ID'.",
			"Step %q waits until {{%s}}, which %s.", q.step.StepID, unfilled.Key, unfilled.Why)
		return
	}
	const fix = "Nothing has to be done: 'waybill due --run' continues the run then, and so does 'waybill run --run ID'."
	all := q.artifacts(wait.Kind)
	if len(all) == 0 {
		q.lacks(reason.MissingOutput, at, fix, "Step %q waits until %s.", q.step.StepID, event.TimeText(due))
		return
	}
	o, err := wait.Decode(all[len(all)-1])
	switch {
	case err != nil:
		q.invalid(wait.Kind, at, fix, "The %s of step %q is not one: %v", wait.Kind, q.step.StepID, err)
	case o.StepInstanceKey != q.state.PendingStep().Key() || o.DueAtMs != due:
		q.invalid(wait.Kind, at, fix, "The %s of step %q is of another wait.", wait.Kind, q.step.StepID)
	case nowMs < due && len(q.fromAttempt(wait.Kind)) > 0:
		q.invalid(wait.Kind, at, fix, "Step %q waits until %s, and the attempt was made before.", q.step.StepID,
			event.TimeText(due))
	}
}
