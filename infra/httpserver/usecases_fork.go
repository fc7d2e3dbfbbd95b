package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// Forks are the use cases of a Host that fork runs.
type Forks interface {
	// ForkRun creates a run that follows from another one before a run event, and has it performed or replayed. With a key
	// that a run was forked with, that run is returned and replayed is true; IDEMPOTENCY_MISMATCH if it was forked by
	// another request. FORK_POINT_INVALID: no run can begin there.
	ForkRun(ctx context.Context, by event.Actor, key, run string, in openwop.ForkRun) (out openwop.RunForked, replayed bool,
		err error)
}
