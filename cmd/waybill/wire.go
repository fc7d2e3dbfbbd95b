package main

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
)

// opened is one store and the engine over it.
type opened struct {
	*engine.Engine
}

// open wires the engine over the store that the flags name. A store that is not
// there opens as an empty one; the first write makes it.
func (a *app) open(_ context.Context) (*opened, error) {
	return nil, fault.New(fault.Internal, "not wired yet")
}

// close lets go of what open holds.
func (o *opened) close() {}
