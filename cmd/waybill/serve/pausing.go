package serve

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// Pause implements httpserver.Host.
func (h *host) Pause(ctx context.Context, by event.Actor, run string, in openwop.PauseRun) (openwop.RunPause, error) {
	return h.pausing.Pause(ctx, h.store.CallerOf(by), run, in)
}

// Resume implements httpserver.Host.
func (h *host) Resume(ctx context.Context, by event.Actor, run, reason string) (openwop.RunState, error) {
	return h.pausing.Resume(ctx, h.store.CallerOf(by), run, reason)
}
