package advance

import (
	"cmp"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Ending is all that the end of a run is decided on: what is on record about it.
type Ending struct {
	Session   id.Session
	Run       id.Run
	Next      int64                     // index of the next event
	Requested *event.RunCancelRequested // nil: nobody asked yet
	Closed    *event.RunClosed          // nil: the run is open
}

// Cancellation is a request to end a run before its time.
type Cancellation struct {
	Reason  string           // "" is recorded as NoReason
	Outcome event.RunOutcome // what the run is to count as
	// Close ends the run at once: nobody is carrying it out. Else whoever is does so
	// when they have stopped.
	Close bool
	Actor event.Actor
	AtMs  int64 // clock reading in milliseconds since 1970
}

// NoReason is recorded where a caller gave none: a later reader should see that
// nothing was said, not wonder whether it was lost.
const NoReason = "No reason was given."

// Cancel plans the end of a run (R23): the request, and run_closed where nobody has
// to stop first. A plan without events says that what is asked for is on record
// already. RUN_CLOSED says that the run ends otherwise, VALIDATION_ERROR that the
// reason cannot be recorded.
func Cancel(f Ending, c Cancellation) (manifest.Plan, error) {
	if err := checkReason(c.Reason); err != nil {
		return manifest.Plan{}, err
	}
	if have, ended := f.outcome(); ended && have != c.Outcome {
		return manifest.Plan{}, fault.New(fault.RunClosed, "run %s is ended as %s already; it cannot end as %s too",
			f.Run, have, c.Outcome).
			Suggest("See 'waybill runs show %s'.", f.Run).With("runId", f.Run.String()).With("outcome", string(have))
	}
	seg := newSegment(f.Session, f.Next, c.AtMs, c.Actor)
	asked := f.Requested
	if asked == nil && f.Closed == nil {
		asked = &event.RunCancelRequested{Reason: cmp.Or(c.Reason, NoReason)}
		if c.Outcome == event.OutcomeFailed {
			asked.Outcome = c.Outcome
		}
		seg.caller(event.Scope{RunID: f.Run}, *asked)
	}
	if c.Close && f.Closed == nil {
		seg.close(f.Run, *asked)
	}
	return seg.plan, nil
}

// Close plans the end of a run whose cancellation was asked for, by the performer
// that has stopped. A plan without events says that it is closed already;
// INVARIANT_VIOLATION that nobody asked.
func Close(f Ending, atMs int64) (manifest.Plan, error) {
	seg := newSegment(f.Session, f.Next, atMs, event.Actor{Kind: event.Engine})
	if f.Closed != nil {
		return seg.plan, nil
	}
	if f.Requested == nil {
		return seg.plan, fault.New(fault.Invariant, "nobody asked for run %s to end", f.Run)
	}
	seg.close(f.Run, *f.Requested)
	return seg.plan, nil
}

// close follows from the request: it repeats why, for those who look at the end only.
func (s *segment) close(r id.Run, asked event.RunCancelRequested) {
	s.engine(event.Scope{RunID: r}, event.RunClosed{Outcome: asked.Ends(), Reason: asked.Reason})
}

// outcome is how the run ends, as far as that is decided.
func (f Ending) outcome() (event.RunOutcome, bool) {
	switch {
	case f.Closed != nil:
		return f.Closed.Outcome, true
	case f.Requested != nil:
		return f.Requested.Ends(), true
	}
	return "", false
}

func checkReason(reason string) error {
	if len(reason) > limits.SummaryBytesMax {
		return tooLarge("the reason", len(reason), limits.SummaryBytesMax)
	}
	if !utf8.ValidString(reason) {
		return fault.New(fault.ValidationError, "the reason is not valid UTF-8")
	}
	return nil
}
