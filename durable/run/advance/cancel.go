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

// EndFacts holds the recorded facts on which the end of a run is decided.
type EndFacts struct {
	Session   id.Session
	Run       id.Run
	Next      int64                     // index of the next event
	Requested *event.RunCancelRequested // nil: no request yet
	Closed    *event.RunClosed          // nil: the run is open
}

// Cancellation is a request to end a run before it is complete.
type Cancellation struct {
	Reason  string           // "" is recorded as NoReason
	Outcome event.RunOutcome // the outcome to record
	// Close ends the run in the same segment: no performer is working on it. Otherwise the
	// performer closes it after stopping.
	Close bool
	Actor event.Actor
	AtMs  int64 // clock reading in milliseconds since 1970
}

// NoReason is stored where the caller gave no reason, so that a reader can tell an absent
// reason from a lost one.
const NoReason = "No reason was given."

// Cancel plans the end of a run (docs/design.md#ends-and-branches): the request, followed by
// run_closed if c.Close is set. A plan without events means that the request is recorded
// already. Errors: RUN_CLOSED if the run has ended or will end with another outcome,
// VALIDATION_ERROR if the reason cannot be recorded.
func Cancel(f EndFacts, c Cancellation) (manifest.Plan, error) {
	if err := checkText("the reason", c.Reason, limits.SummaryBytesMax); err != nil {
		return manifest.Plan{}, err
	}
	// The first request decides the outcome; repeating it is harmless.
	if have, ended := f.outcome(); ended && have != c.Outcome {
		return manifest.Plan{}, fault.New(fault.RunClosed, "run %s is ended as %s already; it cannot end as %s too",
			f.Run, have, c.Outcome).
			Suggest("See %s.", fault.Command{"runs", "show", f.Run.String()}).
			With("runId", f.Run.String()).With("outcome", string(have))
	}
	seg := newSegment(f.Session, f.Next, c.AtMs, c.Actor)
	requested := f.Requested
	if requested == nil && f.Closed == nil {
		requested = &event.RunCancelRequested{Reason: cmp.Or(c.Reason, NoReason)}
		// Cancelled is the default and is not written.
		if c.Outcome == event.OutcomeFailed {
			requested.Outcome = c.Outcome
		}
		seg.caller(event.Scope{RunID: f.Run}, *requested)
	}
	if c.Close && f.Closed == nil {
		seg.close(f.Run, *requested)
	}
	return seg.plan, nil
}

// Close plans the end of a run whose cancellation was requested, after the performer has
// stopped. A plan without events means that the run is closed already. INVARIANT_VIOLATION:
// no cancellation was requested.
func Close(f EndFacts, atMs int64) (manifest.Plan, error) {
	seg := newSegment(f.Session, f.Next, atMs, engine)
	// Two performers may close the same run: the second one records nothing.
	if f.Closed != nil {
		return seg.plan, nil
	}
	if f.Requested == nil {
		return seg.plan, fault.New(fault.Invariant, "no cancellation of run %s was requested", f.Run)
	}
	seg.close(f.Run, *f.Requested)
	return seg.plan, nil
}

// close appends run_closed. It repeats the request's reason for readers of the last event.
func (s *segment) close(r id.Run, requested event.RunCancelRequested) {
	s.engine(event.Scope{RunID: r}, event.RunClosed{Outcome: requested.EndOutcome(), Reason: requested.Reason})
}

// outcome returns the run's outcome once it is requested or recorded.
func (f EndFacts) outcome() (event.RunOutcome, bool) {
	switch {
	case f.Closed != nil:
		return f.Closed.Outcome, true
	case f.Requested != nil:
		return f.Requested.EndOutcome(), true
	}
	return "", false
}

// checkText refuses a text that is too long or not UTF-8. what names it in the message.
func checkText(what, text string, most int) error {
	if len(text) > most {
		return tooLarge(what, len(text), most)
	}
	if !utf8.ValidString(text) {
		return fault.New(fault.ValidationError, "%s is not valid UTF-8", what)
	}
	return nil
}
