package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// fakeToken is the one token of a fake host.
const fakeToken = "fake-token"

// Resolve implements Interrupts: a run is suspended at the node "gate".
func (h *fakeHost) Resolve(ctx context.Context, by event.Actor, run, nodeID string, in openwop.Resolution) (openwop.Resolved, error) {
	if err := h.begin(ctx, "Resolve", by.Ref, run, nodeID, in); err != nil {
		return openwop.Resolved{}, err
	}
	if _, err := h.find(run); err != nil {
		return openwop.Resolved{}, err
	}
	if nodeID != "gate" {
		return openwop.Resolved{}, fault.New(fault.InterruptNotFound, "nothing waits")
	}
	return openwop.Resolved{RunID: run, NodeID: nodeID, InterruptID: "gate:1", Status: openwop.Running}, nil
}

// Callback implements Interrupts.
func (h *fakeHost) Callback(ctx context.Context, run string) (*openwop.Callback, error) {
	return &openwop.Callback{InterruptToken: fakeToken, CallbackURL: "/v1/interrupts/" + fakeToken}, h.begin(ctx, "Callback", run)
}

// Inspect implements Interrupts.
func (h *fakeHost) Inspect(ctx context.Context, token string) (openwop.OpenInterrupt, error) {
	if err := h.begin(ctx, "Inspect", token); err != nil {
		return openwop.OpenInterrupt{}, err
	}
	if token != fakeToken {
		return openwop.OpenInterrupt{}, fault.New(fault.InterruptNotFound, "no token")
	}
	return openwop.OpenInterrupt{NodeID: "gate", Kind: openwop.ExternalEventInterrupt}, nil
}

// ResolveToken implements Interrupts.
func (h *fakeHost) ResolveToken(ctx context.Context, token string, read func() (openwop.Resolution, error)) (openwop.Resolved, error) {
	if _, err := h.Inspect(ctx, token); err != nil {
		return openwop.Resolved{}, err
	}
	if _, err := read(); err != nil {
		return openwop.Resolved{}, err
	}
	return openwop.Resolved{NodeID: "gate", Status: openwop.Running}, nil
}
