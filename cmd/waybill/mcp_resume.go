package main

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/mcpserver"
)

// ResumeSession implements mcpserver.UseCases.
func (c agentCalls) ResumeSession(ctx context.Context, in mcpserver.ResumeSession) (mcpserver.Document, error) {
	return c.fault(fault.New(fault.Internal, "not yet"))
}

type candidatesData struct{}
