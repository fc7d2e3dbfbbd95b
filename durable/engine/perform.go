package engine

import (
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// Perform is Advance for the performer of the session. It alone records the
// result of a command, and the end of a wait: any other caller could write that a command succeeded
// which never ran (docs/design.md#commands-and-trust). Errors: ports.ErrHold
// without a live hold of the session, RUN_BUSY if its lease is lost
// (docs/design.md#leases), and those of Advance.
func (e *Engine) Perform(ctx context.Context, hold ports.Hold, by Caller, at Position, attempt id.Attempt,
	req advance.Request) (Answer, error) {
	leave, err := hold.Enter(at.Session)
	if err != nil {
		return Answer{}, err
	}
	defer leave()
	return e.advanceBy(ctx, by, at, advance.Attempt{ID: attempt, Request: req, Performed: true, Lease: hold.Token()})
}
