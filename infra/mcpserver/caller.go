package mcpserver

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
)

// Caller is who makes a call.
type Caller struct {
	event.Actor // recorded in what the call appends
	// Traceparent is the trace context of the call (W3C Trace Context); "" without a valid one.
	Traceparent string
	// Ask asks the user of the client; nil where the client did not declare that it can.
	Ask Ask
}

// traceparentKey is the member of _meta with the trace context of a call.
const traceparentKey = "traceparent"

// caller returns who makes a request: always an agent (docs/design.md#lines-and-files), with the name
// of the client program. A trace context of another form than that of W3C is dropped.
func (s Server) caller(req *mcp.CallToolRequest, asks *asking) Caller {
	out := Caller{Actor: s.actor(req), Ask: asks.of(req)}
	if text, ok := req.Params.Meta[traceparentKey].(string); ok && event.ValidTraceparent(text) {
		out.Traceparent = text
	}
	return out
}

// actor is the actor of a request. A name that cannot be recorded, has a secret, or cannot be shown in
// one line, is omitted and does not make the call fail.
func (s Server) actor(req *mcp.CallToolRequest) event.Actor {
	out := event.Actor{Kind: event.Agent, Ref: s.ActorRef}
	if info := req.ClientInfo(); out.Ref == "" && info != nil {
		out.Ref = info.Name
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.ValidString(out.Ref) || out.Check() != nil || redact.Text(out.Ref, nil) != out.Ref ||
		strings.ContainsFunc(out.Ref, unprintable) {
		out.Ref = ""
	}
	return out
}
