// Package notice decides which facts about a run a person is notified of, and what the notification says
// (docs/design.md#notifications). It reads the fold of a log and starts nothing.
//
// Start reading at Of, the decision, then Notices.After.
package notice

import (
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// Kind is why a person is notified, a closed set.
type Kind string

// The kinds. Those of the inbox are the same words.
const (
	Failed       = Kind(inbox.Failed) // the pending command failed, or the run has
	Approval     = Kind(inbox.Approval)
	Question     = Kind(inbox.Question)
	Confirmation = Kind(inbox.Confirmation)
	Blocked      = Kind(inbox.Blocked)
	Wait         = Kind("wait")     // the pending step waits until a moment
	Complete     = Kind("complete") // the run is complete, with open gaps or without
)

// Recorded is what one append recorded of a run, as far as a person may be notified of it.
type Recorded struct {
	Session id.Session
	Run     id.Run
	// Entered reports that another node became the current one: a step is pending there, or the run is complete.
	Entered bool
	// Refused reports that an attempt at the pending step was refused.
	Refused bool
	// Closed is the outcome with which the run was closed, "" if it was not.
	Closed event.RunOutcome
	// First and Last are the indexes of the append's events.
	First, Last int64
}

// RecordedBy returns what an append recorded of the runs of a session; nothing for the other logs.
func RecordedBy(p manifest.Plan) (out []Recorded) {
	s, err := id.ParseSession(p.Log.Owner)
	if err != nil || p.Log != manifest.SessionEvents(s) || len(p.Events) == 0 {
		return nil
	}
	of := func(run id.Run) *Recorded {
		for i := range out {
			if out[i].Run == run {
				return &out[i]
			}
		}
		out = append(out, Recorded{Session: s, Run: run, First: p.Events[0].Index, Last: p.Events[len(p.Events)-1].Index})
		return &out[len(out)-1]
	}
	for _, e := range p.Events {
		switch data := e.Data.(type) {
		case event.NodeCreated:
			if data.NodeKind == event.StepNode {
				of(e.Scope.RunID).Entered = true
			}
		case event.AdvanceRecorded:
			if data.Outcome.Kind == event.Blocked {
				of(e.Scope.RunID).Refused = true
			}
		case event.RunClosed:
			of(e.Scope.RunID).Closed = data.Outcome
		}
	}
	return out
}

// State is what a run waits for at the end of a prefix of its log. The zero State waits for nothing.
type State struct {
	Status runs.Status
	// Waits is why the pending step waits for a person, "" if it does not.
	Waits inbox.Kind
	// UntilMs is the moment until which the pending step waits, 0 if it does not.
	UntilMs int64
}

// Of decides whether a person is notified of what an append recorded, and why: "" if not. before and after are the
// states of the run around the append; before matters only if Recorded.Refused.
//
// Each reason is notified once: an attempt that is refused while the step waits for the same as before is not
// notified again, such as the repeated attempts of an agent. The result of a command is new each time.
func Of(r Recorded, before, after State) Kind {
	switch {
	case r.Closed != "":
		if r.Closed == event.OutcomeFailed {
			return Failed
		}
		return ""
	case after.Waits == inbox.Paused: // a person or a program just did that
		return ""
	case r.Entered && (after.Status == runs.CompleteStatus || after.Status == runs.CompleteWithGaps):
		return Complete
	case r.Entered && after.UntilMs != 0:
		return Wait
	case r.Entered, r.Refused && (after.Waits == inbox.Failed || after.Waits != before.Waits):
		return Kind(after.Waits)
	}
	return ""
}
