package mcpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/limits"
)

// greet is the handshake of a client with capabilities.
func (c *client) greet(capabilities string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, capabilities)
	c.read()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// line reads one message of the server, a call of it included.
func (c *client) line() (m struct {
	ID     any
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  any
}) {
	c.t.Helper()
	text, err := c.out.ReadString('\n')
	if err != nil || json.Unmarshal([]byte(text), &m) != nil {
		c.t.Fatalf("%v: %s", err, text)
	}
	return m
}

var aQuestion = Question{Message: "Who?", Fields: []Field{{Key: "customer", About: "The customer"},
	{Key: "size", Choices: []string{"S", "L"}}}}

const continueCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"continue_workflow","arguments":{"stateToken":"s","ackToken":"a"}}}`

// TestUserIsAsked: the client shows a form, and only its fields are read.
func TestUserIsAsked(t *testing.T) {
	rows := []struct{ answer, want string }{
		{`"result":{"action":"accept","content":{"customer":"ACME","size":"L","approve":"yes"}}`,
			"map[customer:ACME size:L] true"},
		{`"result":{"action":"accept","content":{"customer":"  "}}`, "map[] true"},
		{`"result":{"action":"accept"}`, "map[] true"},
		{`"result":{"action":"decline"}`, "map[] false"},
		{`"result":{"action":"cancel","content":{"customer":"ACME"}}`, "map[] false"},
		{`"result":{"action":"sure","content":{"customer":"ACME"}}`, "map[] false"},
		{`"result":{"action":"accept","content":{"size":"XL","customer":"ACME"}}`, "map[] false"},
		{`"result":{"action":"accept","content":{"customer":7}}`, "map[] false"},
		{`"error":{"code":-32603,"message":"no"}`, "map[] false"},
	}
	f := &fakeUseCases{question: &aQuestion}
	c := dial(t, Server{Calls: f})
	c.greet(`{"elicitation":{}}`)
	for i, row := range rows {
		c.send(continueCall, i)
		ask := c.line()
		var form struct {
			Mode, Message   string
			RequestedSchema struct {
				Type       string
				Properties map[string]struct {
					Type, Description string
					Enum              []string
				}
				Required []string
			}
		}
		if err := json.Unmarshal(ask.Params, &form); err != nil || ask.Method != "elicitation/create" ||
			form.Message != "Who?" || form.RequestedSchema.Type != "object" || len(form.RequestedSchema.Required) > 0 ||
			form.RequestedSchema.Properties["customer"].Type != "string" ||
			!reflect.DeepEqual(form.RequestedSchema.Properties["size"].Enum, []string{"S", "L"}) {
			t.Fatalf("asked %+v %s", ask, ask.Params)
		}
		id, _ := json.Marshal(ask.ID)
		c.send(`{"jsonrpc":"2.0","id":%s,%s}`, id, row.answer)
		if m := c.line(); m.ID != float64(i) || m.Error != nil {
			t.Fatalf("%s: %+v", row.answer, m)
		}
		if got := f.answers[i]; got != row.want {
			t.Errorf("%s: got %s, want %s", row.answer, got, row.want)
		}
	}
}

// TestOnlyClientsThatCanAreAsked: without the capability for forms there is nothing to ask with.
func TestOnlyClientsThatCanAreAsked(t *testing.T) {
	for capabilities, want := range map[string]bool{`{}`: false, `{"elicitation":{"url":{}}}`: false,
		`{"elicitation":{"form":{}}}`: true, `{"elicitation":{"form":{},"url":{}}}`: true, `{"elicitation":{}}`: true,
		`{"sampling":{}}`: false} {
		f := &fakeUseCases{}
		c := dial(t, Server{Calls: f})
		c.greet(capabilities)
		c.tool("continue_workflow", `{"stateToken":"s","ackToken":"a"}`)
		if got := f.by.Ask != nil; got != want {
			t.Errorf("%s: can be asked: %v", capabilities, got)
		}
	}
}

// TestUnansweredQuestionEnds: by its time limit, and at once when no answer can arrive any more. Other calls
// are answered meanwhile, also while all clients of the server's questions are silent.
func TestUnansweredQuestionEnds(t *testing.T) {
	f := &fakeUseCases{question: &aQuestion}
	c := dial(t, Server{Calls: f, AskFor: 200 * time.Millisecond})
	c.greet(`{"elicitation":{}}`)
	c.send(continueCall, 1)
	if m := c.line(); m.Method != "elicitation/create" {
		t.Fatalf("got %+v", m)
	}
	for {
		m := c.line()
		if m.Method == "notifications/cancelled" {
			continue
		}
		if m.ID != 1.0 || m.Error != nil || f.answers[0] != "map[] false" {
			t.Errorf("got %+v, %v", m, f.answers)
		}
		break
	}

	f = &fakeUseCases{question: &aQuestion}
	c = dial(t, Server{Calls: f, AskFor: time.Hour})
	c.greet(`{"elicitation":{}}`)
	const calls = limits.MCPCallsMax * 2
	go func() {
		for i := range calls {
			_, _ = fmt.Fprintf(c.in, continueCall+"\n", 1000+i)
		}
		_, _ = fmt.Fprint(c.in, `{"jsonrpc":"2.0","id":"ping","method":"ping"}`+"\n")
	}()
	asked, answered, pinged := 0, 0, false
	for !pinged || asked+answered < calls {
		switch m := c.line(); {
		case m.Method == "elicitation/create":
			asked++
		case m.ID == "ping":
			pinged = true
		case m.Error == nil:
			answered++
		}
	}
	if asked != limits.MCPCallsMax/2 {
		t.Errorf("%d questions were open at once, want %d", asked, limits.MCPCallsMax/2)
	}
	_ = c.in.Close()
	for answered < calls {
		if m := c.line(); m.Method == "" && m.Error == nil {
			answered++
		}
	}
	go func() { _, _ = io.Copy(io.Discard, c.out) }() // cancellations of the questions
	c.end()
}

// TestQuestionOfRepeatedCalls: in the version of the protocol without calls of the server, the result is the
// question, and the client makes the call again with the answer.
func TestQuestionOfRepeatedCalls(t *testing.T) {
	f := &fakeUseCases{question: &aQuestion}
	c := dial(t, Server{Calls: f})
	call := func(more string) message {
		return c.call("tools/call", `{"name":"continue_workflow","arguments":{"stateToken":"s","ackToken":"a"},"_meta":`+
			newMeta(`{"elicitation":{"form":{}}}`)+more+`}`)
	}
	m := call("")
	if m.Error != nil || !strings.Contains(string(m.Result), `"resultType":"input_required"`) ||
		!strings.Contains(string(m.Result), `"message":"Who?"`) || f.calls.Load() != 0 {
		t.Fatalf("got %+v %s", m.Error, m.Result)
	}
	m = call(`,"inputResponses":{"answer":{"action":"accept","content":{"customer":"ACME","size":"XL"}}}`)
	if m.Error != nil || !strings.Contains(string(m.Result), `"kind":"step"`) ||
		!reflect.DeepEqual(f.answers, []string{"map[customer:ACME] true"}) {
		t.Errorf("got %+v %s %v", m.Error, m.Result, f.answers)
	}
}

// TestTraceparentOfCalls: only the form of W3C Trace Context is kept.
func TestTraceparentOfCalls(t *testing.T) {
	const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	f := &fakeUseCases{}
	c := connect(t, Server{Calls: f}, "t")
	rows := map[string]string{
		`"` + valid + `"`:                                           valid,
		`"` + strings.ToUpper(valid) + `"`:                          "",
		`"00-00000000000000000000000000000000-b7ad6b7169203331-01"`: "",
		`"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"`: "",
		`"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`: "",
		`"` + valid + `-more"`:                                      "", `"` + valid + `\n"`: "", `""`: "", `7`: "", `null`: "", `{}`: "",
		`"` + strings.Repeat(valid, 10000) + `"`: "",
	}
	for given, want := range rows {
		m := c.call("tools/call", `{"name":"continue_workflow","arguments":{"stateToken":"s"},"_meta":{"traceparent":`+
			given+`}}`)
		if m.Error != nil || f.by.Traceparent != want {
			t.Errorf("%.80s: kept %q, want %q (%+v)", given, f.by.Traceparent, want, m.Error)
		}
	}
}
