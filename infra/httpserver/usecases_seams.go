package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// seams are the use cases of test seams. They are called by a server with Seams only.
type seams interface {
	// Emit records a run event of a run, or of one that is made for a name.
	Emit(ctx context.Context, by event.Actor, e openwop.Emission) (openwop.RunEvent, error)
	// Emitted returns the run events of a run or name with a type, causationId and nodeId, "" for any.
	Emitted(ctx context.Context, by event.Actor, run, kind, cause, node string) ([]openwop.RunEvent, error)
	// Program sets what the mock provider answers to the next call of a node.
	Program(ctx context.Context, in openwop.MockProgram) error
	// Budget returns the budget in tokens of the last call of a node, false without one.
	Budget(ctx context.Context, node string) (tokens int64, ok bool)
	// Reset ends the runs that were made for names of the caller, and returns their number.
	Reset(ctx context.Context, by event.Actor) (int, error)
}
