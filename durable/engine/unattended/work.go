package unattended

// WorkEvent is what happened, a closed set.
type WorkEvent string

// The events.
const (
	WorkStep WorkEvent = "step" // a step was accepted
	WorkRun  WorkEvent = "run"  // the worker has left a run, at its end or before
	WorkLeft WorkEvent = "left" // a run or a session that the worker does not perform until a person did something
)

// WorkEvents is the closed set of events.
func WorkEvents() []WorkEvent { return []WorkEvent{WorkStep, WorkRun, WorkLeft} }

// WorkOutcome is how far a worker got with a run, a closed set.
type WorkOutcome string

// The outcomes.
const (
	WorkComplete WorkOutcome = "complete" // the run is complete
	WorkWaiting  WorkOutcome = "waiting"  // it waits for a person, for trust or until a moment
	WorkFailed   WorkOutcome = "failed"   // a step failed, or the run could not be continued
	WorkEnded    WorkOutcome = "ended"    // its end was requested, and is recorded
	WorkBusy     WorkOutcome = "busy"     // another process has continued the run
	WorkRetried  WorkOutcome = "retried"  // the store could not be read or written; the run is tried again
	WorkStopped  WorkOutcome = "stopped"  // a signal stopped the worker; the pending step is performed again
)

// WorkOutcomes is the closed set of outcomes.
func WorkOutcomes() []WorkOutcome {
	return []WorkOutcome{WorkComplete, WorkWaiting, WorkFailed, WorkEnded, WorkBusy, WorkRetried, WorkStopped}
}
