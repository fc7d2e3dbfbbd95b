package perform

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// A performer whose lease is lost stops its command, as for a cancellation, and records nothing
// (docs/design.md#leases). It ends no run either, not even one whose end was requested: another
// performer may be at work by now, and ends the run after it has stopped.

// isLostLease reports the refusal of an attempt whose lease is not the present one.
func isLostLease(err error) bool {
	f := fault.Of(err)
	return err != nil && f.Code == fault.RunBusy && f.Details["leaseLost"] == true
}

// confirmHold asks the store for the lease if the last attempt was answered from the log, and recorded nothing: another performer may have
// recorded it, and be at work on what follows. What an attempt records proves the lease itself.
func (e *execution) confirmHold(ctx context.Context) error {
	if !e.answer.Replayed {
		return nil
	}
	return e.hold.Confirm(ctx)
}

// lostLease is the error of a call whose lease was lost: RUN_BUSY, or INTERRUPTED if ctx has ended as well. err is
// the error with which the work ended; one that has another cause than the loss is returned as it is.
func (e *execution) lostLease(ctx context.Context, err error) error {
	switch {
	case isLostLease(err): // it names the present holder
	case ctx.Err() == nil && errors.Is(err, context.Canceled):
		err = ports.LostLease(e.report.Session.String(), ports.Holder{})
	default:
		return err
	}
	f := *fault.Of(err)
	f.Suggestion = fault.Suggest("See how far the run is with %s, and continue it with %s.",
		e.OfStore(fault.Command{"runs", "show", e.report.Run.String()}), e.continueLine())
	return e.withIDs(&f)
}
