package runs

import "github.com/waybill/waybill/durable/log/event"

// Pause is the pause of a run that was not resumed (docs/design.md#pauses).
type Pause struct {
	event.RunPaused
	AtMs int64       `json:"atMs"` // of the event, 0 in logs without times
	By   event.Actor `json:"by"`
	// Attempted reports an attempt behind the event: that of the step that was being performed. No further one follows
	// before the run is resumed.
	Attempted bool `json:"attempted,omitzero"`
}

// InForce reports a pause that holds the run: one without a drain, or one whose drain is over.
func (p *Pause) InForce() bool { return p != nil && (!p.Drain || p.Attempted) }

// Paused reports that the run takes no steps before it is resumed.
func (r *Run) Paused() bool { return r.Pause.InForce() }

// Executions is the number of steps that the run has taken up: those that were accepted, on every branch, and the one
// that is pending.
func (r *Run) Executions() int64 { return r.Accepted + 1 }

// After returns the pause of a run after one of its events.
func (p *Pause) After(e event.Event) *Pause {
	switch data := e.Data.(type) {
	case event.RunPaused:
		return &Pause{RunPaused: data, AtMs: e.TimestampMs, By: e.Actor}
	case event.RunResumed:
		return nil
	case event.AdvanceRecorded:
		if p != nil && !p.Attempted {
			attempted := *p // a saved window shares it
			attempted.Attempted = true
			return &attempted
		}
	}
	return p
}

// isPause reports the events that hold and release a run. They are no activity: a run that only these change was not
// continued, and one that came with a bundle stays one.
func isPause(p event.Payload) bool {
	switch p.(type) {
	case event.RunPaused, event.RunResumed:
		return true
	}
	return false
}
