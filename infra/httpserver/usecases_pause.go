package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// Pausing has the use cases that hold a run and release it. A run in the wrong state is refused with its status in the
// detail "runStatus".
type Pausing interface {
	// Pause pauses a run that is performed.
	Pause(ctx context.Context, by event.Actor, run string, in openwop.PauseRun) (openwop.RunPause, error)
	// Resume ends the pause of a run.
	Resume(ctx context.Context, by event.Actor, run, reason string) (openwop.RunState, error)
}
