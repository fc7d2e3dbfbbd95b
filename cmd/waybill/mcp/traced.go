package mcp

import (
	"context"

	"github.com/waybill/waybill/infra/mcpserver"
)

// tracedCalls are agentCalls of which each is measured (docs/design.md#durations). It implements
// mcpserver.UseCases.
type tracedCalls struct{ agentCalls }

// traced measures one call of a tool.
func traced[In any](ctx context.Context, c tracedCalls, tool string, by mcpserver.Caller, in In,
	call func(context.Context, mcpserver.Caller, In) (mcpserver.Document, error)) (mcpserver.Document, error) {
	ctx, ended := c.a.Traced(ctx, c.a.Log())
	defer ended(tool)
	return call(ctx, by, in)
}

// ListWorkflows implements mcpserver.UseCases.
func (c tracedCalls) ListWorkflows(ctx context.Context, by mcpserver.Caller, in mcpserver.ListWorkflows) (mcpserver.Document,
	error) {
	return traced(ctx, c, "list_workflows", by, in, c.agentCalls.ListWorkflows)
}

// InspectWorkflow implements mcpserver.UseCases.
func (c tracedCalls) InspectWorkflow(ctx context.Context, by mcpserver.Caller,
	in mcpserver.InspectWorkflow) (mcpserver.Document, error) {
	return traced(ctx, c, "inspect_workflow", by, in, c.agentCalls.InspectWorkflow)
}

// StartWorkflow implements mcpserver.UseCases.
func (c tracedCalls) StartWorkflow(ctx context.Context, by mcpserver.Caller, in mcpserver.StartWorkflow) (mcpserver.Document,
	error) {
	return traced(ctx, c, "start_workflow", by, in, c.agentCalls.StartWorkflow)
}

// ContinueWorkflow implements mcpserver.UseCases.
func (c tracedCalls) ContinueWorkflow(ctx context.Context, by mcpserver.Caller,
	in mcpserver.ContinueWorkflow) (mcpserver.Document, error) {
	return traced(ctx, c, "continue_workflow", by, in, c.agentCalls.ContinueWorkflow)
}

// CheckpointWorkflow implements mcpserver.UseCases.
func (c tracedCalls) CheckpointWorkflow(ctx context.Context, by mcpserver.Caller,
	in mcpserver.CheckpointWorkflow) (mcpserver.Document, error) {
	return traced(ctx, c, "checkpoint_workflow", by, in, c.agentCalls.CheckpointWorkflow)
}

// ResumeSession implements mcpserver.UseCases.
func (c tracedCalls) ResumeSession(ctx context.Context, by mcpserver.Caller, in mcpserver.ResumeSession) (mcpserver.Document,
	error) {
	return traced(ctx, c, "resume_session", by, in, c.agentCalls.ResumeSession)
}
