package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/limits"
)

// Question is a form for the user of a client. With no field it asks for a plain confirmation.
type Question struct {
	Message string
	Fields  []Field
}

// Field is one text that the user gives, or chooses.
type Field struct {
	Key     string
	About   string
	Choices []string // empty: any text
}

// Ask asks the user of the client and waits for the answer, at most as long as the server allows.
// accepted is false for a user who declines, closes the form or does not answer in time, and where the
// client fails or too many questions are open: nothing was answered then. values has the fields that
// were filled in.
//
// err is not nil where the client has to make the call again with the answer; the call ends with it.
type Ask func(ctx context.Context, q Question) (values map[string]string, accepted bool, err error)

// needsAnswer is the error of a call that its client makes again with the answer to a question. Newer
// versions of the protocol have no calls from the server to the client.
type needsAnswer struct{ params *mcp.ElicitParams }

func (needsAnswer) Error() string { return "the call needs an answer of the user" }

// answerKey names the question in such a result and its answer in the repeated call.
const answerKey = "answer"

// asking bounds the questions to the user of one client.
type asking struct {
	within time.Duration
	ended  <-chan struct{} // closed when no answer can arrive any more
	open   chan struct{}   // one element per open question
}

func newAsking(within time.Duration, ended <-chan struct{}) *asking {
	// A question keeps a call in progress, and its answer must still be read.
	return &asking{within, ended, make(chan struct{}, limits.MCPCallsMax/2)}
}

// of returns the Ask of a request, nil where the client did not declare forms.
func (a *asking) of(req *mcp.CallToolRequest) Ask {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil || caps.Elicitation.Form == nil && caps.Elicitation.URL != nil {
		return nil
	}
	return func(ctx context.Context, q Question) (map[string]string, bool, error) {
		params := &mcp.ElicitParams{Mode: "form", Message: q.Message, RequestedSchema: q.schema()}
		if req.ProtocolVersion() >= firstVersionOfRepeatedCalls {
			answer, given := req.Params.InputResponses[answerKey].(*mcp.ElicitResult)
			if !given {
				return nil, false, needsAnswer{params}
			}
			values, accepted := q.read(answer)
			return values, accepted, nil
		}
		select {
		case a.open <- struct{}{}:
			defer func() { <-a.open }()
		default:
			return nil, false, nil
		}
		values, accepted := q.read(a.send(ctx, req.Session, params))
		return values, accepted, ctx.Err()
	}
}

// firstVersionOfRepeatedCalls is the version of the protocol from which on a call that needs an answer
// ends, and is made again with it.
const firstVersionOfRepeatedCalls = "2026-07-28"

// send asks the client, and returns nil without an answer.
func (a *asking) send(ctx context.Context, session *mcp.ServerSession, params *mcp.ElicitParams) *mcp.ElicitResult {
	ctx, stop := context.WithTimeout(ctx, a.within)
	defer stop()
	go func() {
		select {
		case <-a.ended:
			stop()
		case <-ctx.Done():
		}
	}()
	answer, err := session.Elicit(ctx, params)
	if err != nil { // a client that fails has no answer
		return nil
	}
	return answer
}

// schema is the form as the protocol describes it: texts and choices, none of which is required.
func (q Question) schema() *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range q.Fields {
		p := &jsonschema.Schema{Type: "string", Title: f.Key, Description: f.About}
		for _, c := range f.Choices {
			p.Enum = append(p.Enum, c)
		}
		out.Properties[f.Key] = p
		out.PropertyOrder = append(out.PropertyOrder, f.Key)
	}
	return out
}

// read returns the fields of an answer. Anything else in it, which is from outside, is dropped.
func (q Question) read(answer *mcp.ElicitResult) (map[string]string, bool) {
	if answer == nil || answer.Action != "accept" {
		return nil, false
	}
	values := map[string]string{}
	for _, f := range q.Fields {
		text, ok := answer.Content[f.Key].(string)
		if ok && strings.TrimSpace(text) != "" && (len(f.Choices) == 0 || slices.Contains(f.Choices, text)) {
			values[f.Key] = text
		}
	}
	return values, true
}

// asQuestion returns the result that asks the client, if a call ended with a question.
func asQuestion(err error) (*mcp.CallToolResult, bool) {
	var needs needsAnswer
	if !errors.As(err, &needs) {
		return nil, false
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{answerKey: needs.params}}, true
}
