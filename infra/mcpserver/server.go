package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// Server is what one process serves.
type Server struct {
	Version string // of the program
	Calls   UseCases
	Results Results
	As      string       // who is put on record; what the client calls itself when empty
	Log     slog.Handler // diagnostics; nil discards them
}

// grace is how long calls that are worked on may take once the server is told to
// stop: then it leaves them to the log, which holds a call whole or not at all.
const grace = 3 * time.Second

// Serve answers the messages of one client until its input ends, its output is gone
// or ctx is done, and then says nil: none of these is an error. It keeps nothing
// between calls, so the tokens of one process are good in the next.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	log := s.Log
	if log == nil {
		log = slog.DiscardHandler
	}
	server := s.new(slog.New(log))
	conn := newLines(in, out, ctx.Done())
	defer conn.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// The stop comes through the connection, which answers what was taken first.
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
	case <-time.After(grace):
	}
	return nil
}

func (s Server) new(log *slog.Logger) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "waybill", Title: "Waybill", Version: s.Version},
		&mcp.ServerOptions{
			Instructions: instructions, Logger: log,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	no := false
	for _, t := range tools {
		server.AddTool(&mcp.Tool{Name: t.name, Title: t.title, Description: t.teaches, InputSchema: t.inputSchema(),
			OutputSchema: t.outputSchema(s.Results),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, IdempotentHint: t.again, DestructiveHint: &no,
				OpenWorldHint: &no},
		}, s.handler(t, log))
	}
	return server
}

// handler makes a tool's calls. It returns no error: an error here would be one of
// the protocol.
func (s Server) handler(t tool, log *slog.Logger) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (out *mcp.CallToolResult, _ error) {
		defer func() {
			if r := recover(); r != nil {
				log.Error("a bug", "tool", t.name, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				out = failed(fault.New(fault.Internal, "waybill met a bug of its own: %v", r))
			}
		}()
		doc, err := t.run(ctx, s.Calls, s.actor(req), req.Params.Arguments)
		if err == nil {
			if out, err = answered(doc); err == nil {
				return out, nil
			}
		}
		f := fault.Of(err)
		if errors.Is(err, context.Canceled) && f.Code == fault.Internal {
			f = fault.Wrap(err, fault.Interrupted, "the call was cancelled; what was acknowledged is recorded").
				Suggest("Make the same call again: it is answered from the log.")
		}
		if f.Err != nil {
			log.Debug("the cause", "tool", t.name, "code", string(f.Code), "error", f.Err)
		}
		return failed(t.advised(f)), nil
	}
}

// actor is who calls: an agent always (R4), under the name of the program that it
// works in. A name that could not be recorded, or not be shown in one line, is left
// out: it must not make calls fail.
func (s Server) actor(req *mcp.CallToolRequest) event.Actor {
	out := event.Actor{Kind: event.Agent, Ref: s.As}
	if info := req.ClientInfo(); out.Ref == "" && info != nil {
		out.Ref = info.Name
	}
	if !utf8.ValidString(out.Ref) || out.Check() != nil {
		out.Ref = ""
	}
	for _, r := range out.Ref {
		if !unicode.IsPrint(r) {
			out.Ref = ""
		}
	}
	return out
}
