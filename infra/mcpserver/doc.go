// Package mcpserver offers the use cases of Waybill to AI agents as six tools of the Model Context
// Protocol, over two streams (docs/design.md#callers). It implements the transport, the
// descriptions and schemas of the tools, and the strict reading of their arguments. What a call
// does is decided by the UseCases that it is given; no rule of the engine is implemented here.
// Approvals, trust, deletion and repair are never tools.
//
// Start with Server.Serve, then the table in tools.go; transport.go reads and writes messages.
package mcpserver
