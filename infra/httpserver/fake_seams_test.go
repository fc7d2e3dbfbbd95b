package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

func (h *fakeHost) Emit(ctx context.Context, by event.Actor, e openwop.Emission) (out openwop.RunEvent, err error) {
	if err := h.begin(ctx, "Emit", by, e.RunID); err != nil {
		return out, err
	}
	return openwop.RunEvent{EventID: "e", RunID: e.RunID, Type: e.Type, Payload: e.Payload, CausationID: e.CorrelationID, NodeID: e.NodeID}, nil
}

func (h *fakeHost) Emitted(ctx context.Context, by event.Actor, run, kind, cause, node string) ([]openwop.RunEvent, error) {
	if err := h.begin(ctx, "Emitted", by, run, kind, cause, node); err != nil {
		return nil, err
	}
	r, err := h.find(run)
	if err != nil {
		return nil, fault.New(fault.RunNotFound, "none")
	}
	return r.events, nil
}

func (h *fakeHost) Program(ctx context.Context, in openwop.MockProgram) error {
	return h.begin(ctx, "Program", in.NodeID)
}

func (h *fakeHost) Budget(_ context.Context, node string) (int64, bool) { return 7, node == "n" }

func (h *fakeHost) Reset(ctx context.Context, by event.Actor) (int, error) {
	return 2, h.begin(ctx, "Reset", by)
}
