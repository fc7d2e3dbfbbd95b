package session

import (
	"fmt"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

// TakesFacts refuses with RUN_CLOSED to add events to a run that is closed or whose cancellation was requested
// (docs/design.md#ends-and-branches). The refusal quotes the recorded reason, which is what a person wrote: an agent
// learns from it by whom its step was denied, and why.
func (p Resolved) TakesFacts() error {
	reason := ""
	switch closed, requested := p.Run.Closed, p.Run.CancelRequested; {
	case closed != nil:
		reason = closed.Reason
	case requested != nil:
		reason = requested.Reason
	default:
		return nil
	}
	f := fault.New(fault.RunClosed, "run %s is closed: it takes no further steps", p.Run.ID)
	if reason != "" && reason != advance.NoReason {
		f.Message += fmt.Sprintf("; the recorded reason is %q", reason)
	}
	return f
}

// TakesAttempt refuses with RUN_PAUSED an attempt at a paused run, but for one by the performer of the session: the step was
// being performed when the run was paused, and what came of it must not be lost (docs/design.md#pauses). It is the
// only one, however long the pause is.
func (p Resolved) TakesAttempt(performed bool) error {
	if pause := PausedOf(p.Run); pause != nil && p.Run.Paused() && (!performed || p.Run.Pause.Attempted) {
		return Paused(p.Run.ID, *pause)
	}
	return nil
}

// PausedRun is a pause as answers and views have it.
type PausedRun struct {
	Reason string `json:"reason"`
	// SinceMs is when the run was paused, in milliseconds since 1970 UTC.
	SinceMs int64 `json:"sinceMs"`
	// Drain reports a pause that is not in force yet: the run takes the attempt at its current step first.
	Drain bool `json:"drain,omitzero"`
}

// PausedOf returns the pause of a run that was not resumed, nil for a run without one, and for one that has ended or whose
// end is requested.
func PausedOf(r *runs.Run) *PausedRun {
	if r.Pause == nil || r.Closed != nil || r.CancelRequested != nil {
		return nil
	}
	return &PausedRun{r.Pause.Reason, r.Pause.AtMs, !r.Paused()}
}

// Paused is RUN_PAUSED.
func Paused(run id.Run, p PausedRun) *fault.Fault {
	f := fault.New(fault.RunPaused, "run %s is paused since %s and takes no steps", run, event.TimeText(p.SinceMs))
	if p.Reason != advance.NoReason {
		f.Message += fmt.Sprintf("; the recorded reason is %q", p.Reason)
	}
	return f.Suggest("It is resumed with %s: an agent tells the user, who decides about that.",
		fault.Command{"runs", "resume", run.String()}).
		With("runId", run.String()).With("reason", p.Reason).With("sinceMs", p.SinceMs)
}
