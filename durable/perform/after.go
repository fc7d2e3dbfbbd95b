package perform

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
)

// Next says what follows a call of Perform, for a scheduler. Exactly one member is set.
type Next struct {
	// Done: the run is over. It is complete, cancelled or failed.
	Done bool
	// AtMs is the moment at which the run is to be continued, in milliseconds since 1970 UTC.
	AtMs int64
	// Retry: the same call may succeed after a pause, since another process holds a lock, the store could
	// not be read or written, or the call was interrupted.
	Retry bool
	// Waiting: the run waits for a person, an agent or another program. The same call would not get
	// further.
	Waiting bool
}

// After returns what follows a call of Perform that returned a report and an error. It is a function of
// both and reads no clock.
func After(r Report, err error) Next {
	f := fault.Of(err)
	switch {
	case err == nil, f.Code == fault.RunClosed:
		return Next{Done: true}
	case f.Code == fault.RunWaiting && r.ResumeAtMs != 0:
		return Next{AtMs: r.ResumeAtMs}
	case errors.Is(err, ErrMoved), errors.Is(err, ErrStepped), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Next{Retry: true}
	case f.Code == fault.Interrupted, f.Code == fault.StoreFull, f.Retry.Kind != fault.NotRetryable:
		return Next{Retry: true}
	}
	return Next{Waiting: true}
}
