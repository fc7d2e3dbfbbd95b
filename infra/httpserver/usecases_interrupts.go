package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// Interrupts has the use cases of answers to suspended runs (docs/design.md#openwop-interrupts).
type Interrupts interface {
	// Resolve answers the interrupt at a node of a run.
	Resolve(ctx context.Context, by event.Actor, run, nodeID string, in openwop.Resolution) (openwop.Resolved, error)
	// Callback returns how another system answers the interrupt that a run waits with, nil for any other run. Its URL is a
	// path.
	Callback(ctx context.Context, run string) (*openwop.Callback, error)

	// Inspect describes the interrupt of a token. INTERRUPT_NOT_FOUND for a text that is no token of this store.
	Inspect(ctx context.Context, token string) (openwop.OpenInterrupt, error)
	// ResolveToken answers the interrupt of a token. read returns the request, and is called for a valid token only.
	ResolveToken(ctx context.Context, token string, read func() (openwop.Resolution, error)) (openwop.Resolved, error)
}
