package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// Server serves one client. The zero Log discards diagnostics; Calls is required.
type Server struct {
	Version string // of the program
	Calls   UseCases
	// Fault completes a fault for the client, such as the commands that its suggestion names; nil
	// leaves it as it is.
	Fault func(*fault.Fault) *fault.Fault
	// Measure returns a context in which a call is measured, and what is called with the name of the tool at its
	// end; nil measures nothing.
	Measure  func(context.Context) (context.Context, func(tool string))
	ActorRef string        // recorded as the actor of calls; the name of the client when empty
	Log      slog.Handler  // diagnostics; nil discards them
	AskFor   time.Duration // how long the user of the client may take to answer; 0: limits.MCPAskMs
}

// stopGrace is how long calls in progress may take after the server is stopped. Afterwards they are
// abandoned, which is safe: the log contains a call completely or not at all.
const stopGrace = 3 * time.Second

// Serve answers the messages of one client until its input ends, its output is closed or ctx is
// done. It returns nil in each of these cases. It keeps no state between calls, so tokens of one
// process are valid in the next.
//
// Calls run concurrently, at most limits.MCPCallsMax at a time. When ctx is done, no new call is
// accepted; calls in progress get stopGrace to finish and are answered.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	log := s.Log
	if log == nil {
		log = slog.DiscardHandler
	}
	conn := newTransport(in, out, ctx.Done())
	within := s.AskFor
	if within == 0 {
		within = limits.MCPAskMs * time.Millisecond
	}
	server := s.new(slog.New(log), newAsking(within, conn.ended))
	defer conn.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// The stop goes through the connection, which answers accepted calls first.
		if err := server.Run(context.WithoutCancel(ctx), conn); err != nil {
			slog.New(log).Debug("the connection ended", "error", err)
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-ended:
	case <-time.After(stopGrace):
	}
	return nil
}

// new registers the tools with the server of the SDK, and what answers its other methods.
func (s Server) new(log *slog.Logger, asks *asking) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "waybill", Title: "Waybill", Version: s.Version},
		&mcp.ServerOptions{
			Instructions: instructions, Logger: log,
			SetCacheable: fresh,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{},
				Resources: &mcp.ResourceCapabilities{}}})
	server.AddReceivingMiddleware(s.dynamic(log))
	no := false
	for _, t := range tools {
		server.AddTool(&mcp.Tool{Name: t.name, Title: t.title, Description: t.description,
			InputSchema: t.inputSchema(), OutputSchema: t.outputSchema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent,
				DestructiveHint: &no, OpenWorldHint: &no},
		}, s.handler(t, log, asks))
	}
	return server
}

// handler performs the calls of a tool. It returns no error, since that would be a protocol error;
// a panic becomes INTERNAL_ERROR.
//
// A canceled request is INTERRUPTED, with the suggestion to repeat the call. Causes of faults go to
// the log only, never to the client.
func (s Server) handler(t tool, log *slog.Logger, asks *asking) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (out *mcp.CallToolResult, _ error) {
		defer func() {
			if r := recover(); r != nil {
				log.Error("panic in a tool", "tool", t.name, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				out = errorResult(fault.New(fault.Internal, "internal error in waybill: %v", r))
			}
		}()
		if s.Measure != nil {
			measured, ended := s.Measure(ctx)
			defer ended(t.name)
			ctx = measured
		}
		doc, err := t.perform(ctx, s.Calls, s.caller(req, asks), req.Params.Arguments)
		if err == nil {
			if out, err = successResult(doc); err == nil {
				return out, nil
			}
		}
		if question, ok := asQuestion(err); ok {
			return question, nil
		}
		f := fault.Of(err)
		if errors.Is(err, context.Canceled) && f.Code == fault.Internal {
			f = fault.Wrap(err, fault.Interrupted, "the call was canceled; acknowledged results are recorded").
				Suggest("Make the same call again: it is answered from the log.")
		}
		if f.Err != nil {
			log.Debug("cause of a fault", "tool", t.name, "code", string(f.Code), "error", f.Err)
		}
		if s.Fault != nil {
			f = s.Fault(f)
		}
		return errorResult(t.forAgent(f, namedRun(req.Params.Arguments, f))), nil
	}
}
