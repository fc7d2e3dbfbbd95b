package advance

import (
	"cmp"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// PauseFacts holds the recorded facts on which the pause of a run is decided.
type PauseFacts struct {
	Session id.Session
	Run     id.Run
	Next    int64 // index of the next event
	Pauses  int64 // how many were recorded
	// Current is the one that was not resumed, nil without one. InForce reports that the run takes no steps.
	Current *event.RunPaused
	InForce bool
}

// Hold is a request to pause a run, or to resume it.
type Hold struct {
	Reason string // that of a pause is recorded as NoReason if it is ""
	// Drain lets the run take the attempt at its current step first. It has no meaning for Resume.
	Drain bool
	Actor event.Actor
	AtMs  int64 // clock reading in milliseconds since 1970
}

// Pause plans the pause of a run (docs/design.md#pauses). A plan without events means that it is paused, or will be, as
// requested. VALIDATION_ERROR if the reason cannot be recorded.
func Pause(f PauseFacts, h Hold) (manifest.Plan, error) {
	if err := checkText("the reason", h.Reason, limits.SummaryBytesMax); err != nil {
		return manifest.Plan{}, err
	}
	seg := newSegment(f.Session, f.Next, h.AtMs, h.Actor)
	// A pause at once replaces one that still waits for the current step.
	if f.Current == nil || !f.InForce && !h.Drain {
		seg.caller(event.Scope{RunID: f.Run}, event.RunPaused{Drain: h.Drain, N: f.Pauses + 1,
			Reason: cmp.Or(h.Reason, NoReason)})
	}
	return seg.plan, nil
}

// Resume plans the end of the pause of a run. A plan without events means that the run is not paused. VALIDATION_ERROR if
// the reason cannot be recorded.
func Resume(f PauseFacts, h Hold) (manifest.Plan, error) {
	if err := checkText("the reason", h.Reason, limits.SummaryBytesMax); err != nil {
		return manifest.Plan{}, err
	}
	seg := newSegment(f.Session, f.Next, h.AtMs, h.Actor)
	if f.Current != nil {
		seg.caller(event.Scope{RunID: f.Run}, event.RunResumed{N: f.Current.N, Reason: h.Reason})
	}
	return seg.plan, nil
}

// RefusePauses refuses to pause or resume a run that has ended, or whose end is requested.
func RefusePauses(run id.Run, outcome event.RunOutcome, complete bool) error {
	see := fault.Command{"runs", "show", run.String()}
	switch {
	case outcome != "":
		return fault.New(fault.RunClosed, "run %s is ended as %s: it is neither paused nor resumed", run, outcome).
			Suggest("See %s.", see).With("runId", run.String()).With("outcome", string(outcome))
	case complete:
		return fault.New(fault.ValidationError, "run %s is complete: it is neither paused nor resumed", run).
			Suggest("See %s.", see).With("runId", run.String())
	}
	return nil
}
