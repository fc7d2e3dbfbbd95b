package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

func TestInvalidMessagesAreAnsweredAndServerContinues(t *testing.T) {
	rows := []struct{ name, line, want string }{
		{"garbage", `garbage`, "null -32700"},
		{"half a message", `{"jsonrpc":"2.0","id":1`, "null -32700"},
		{"not UTF-8", "\"\xff\"", "null -32700"},
		{"two messages on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, "null -32700"},
		{"nested without end",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows","arguments":` +
				strings.Repeat("[", 1<<20), "null -32700"},
		{"nested far too deep, and well-formed",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows","arguments":{"a":` +
				strings.Repeat("[", 1<<16) + strings.Repeat("]", 1<<16) + `}}}`, "null -32700"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null -32600"},
		{"an empty batch", `[]`, "null -32600"},
		{"no object", `17`, "null -32600"},
		{"no version", `{"id":3,"method":"ping"}`, "3 -32600"},
		{"a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null -32600"},
		{"a fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null -32600"},
		{"an id that no whole number holds", `{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, "null -32600"},
		{"neither a call nor an answer", `{"jsonrpc":"2.0","id":2}`, "2 -32600"},
		{"a second greeting", `{"jsonrpc":"2.0","id":10,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "10 -32600"},
		{"an id that is rounded elsewhere", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "null -32600"},
		{"a method that is no string", `{"jsonrpc":"2.0","id":"a","method":7}`, "a -32600"},
		{"params that are a list", `{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}`, "4 -32600"},
		{"a key twice", `{"jsonrpc":"2.0","id":5,"method":"ping","method":"ping"}`, "5 -32600"},
		{"an unknown method", `{"jsonrpc":"2.0","id":6,"method":"x/y"}`, "6 -32601"},
		{"a call that would never end", `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{}}`,
			"7 -32601"},
		{"an unknown tool", `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"approve","arguments":{}}}`,
			"8 -32602"},
		{"a line over the limit", strings.Repeat("x", limits.MCPMessageBytesMax+1), "null -32600"},
		{"a call over the limit", `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` +
			strings.Repeat("x", limits.MCPMessageBytesMax) + `"}}`, "null -32600"},
	}
	c := connect(t, Server{Calls: &fakeUseCases{}}, "t")
	for _, row := range rows {
		c.send("%s", row.line)
		m := c.read()
		id := "null"
		if m.ID != nil {
			id = fmt.Sprint(m.ID)
		}
		if m.Error == nil {
			t.Errorf("%s: no error: %+v", row.name, m)
		} else if batch := strings.Contains(m.Error.Message, "batches"); batch != strings.Contains(row.name, "batch") {
			t.Errorf("%s: %s", row.name, m.Error.Message)
		} else if got := fmt.Sprintf("%s %d", id, m.Error.Code); got != row.want || len(m.Error.Message) > 300 {
			t.Errorf("%s: got %s (%s), want %s", row.name, got, m.Error.Message, row.want)
		}
		c.send("")
		c.send(" \r")
		if d, isError := c.tool("list_workflows", "{}"); isError || d.Kind != "workflows" {
			t.Fatalf("%s: the server does not continue: %+v", row.name, d)
		}
	}
	_ = c.in.Close()
	c.end()
}

// TestConcurrentCallsAreBounded: a thousand calls at once are performed a few at a time, and each
// is answered.
func TestConcurrentCallsAreBounded(t *testing.T) {
	const calls = 1000
	f := &fakeUseCases{delay: time.Millisecond}
	c := connect(t, Server{Calls: f}, "t")
	go func() {
		for i := range calls {
			if _, err := fmt.Fprintf(c.in,
				`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_workflows"}}`+"\n",
				1000+i); err != nil {
				return
			}
		}
		_ = c.in.Close() // the answers still come
	}()
	seen := map[any]bool{}
	for range calls {
		m := c.read()
		if m.Error != nil || seen[m.ID] {
			t.Fatalf("answer %+v", m)
		}
		seen[m.ID] = true
	}
	c.end()
	if got := f.runningMost.Load(); got > limits.MCPCallsMax || got < 2 {
		t.Errorf("%d calls were in progress at once, want 2 to %d", got, limits.MCPCallsMax)
	}
	if f.calls.Load() != calls || len(seen) != calls {
		t.Errorf("%d calls, %d answers", f.calls.Load(), len(seen))
	}
}

// TestAcceptedCallsAreAnsweredAtEnd: neither the end of the input nor a stop loses the answer of a
// call in progress.
func TestAcceptedCallsAreAnsweredAtEnd(t *testing.T) {
	for name, end := range map[string]func(*client){
		"the input ends": func(c *client) { _ = c.in.Close() },
		"it is stopped":  func(c *client) { c.stop() },
	} {
		f := &fakeUseCases{release: make(chan struct{}), entered: make(chan struct{}, 1)}
		c := connect(t, Server{Calls: f}, "t")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows"}}`)
		<-f.entered
		end(c)
		time.AfterFunc(20*time.Millisecond, func() { close(f.release) })
		if m := c.read(); m.ID != 1.0 || m.Error != nil {
			t.Errorf("%s: %+v", name, m)
		}
		c.end()
	}
}

// TestHangingCallDoesNotPreventStop: a call that does not end in time is abandoned.
func TestHangingCallDoesNotPreventStop(t *testing.T) {
	f := &fakeUseCases{release: make(chan struct{}), entered: make(chan struct{}, 1)}
	defer close(f.release)
	c := connect(t, Server{Calls: f}, "t")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows"}}`)
	<-f.entered
	c.stop()
	c.end() // while the call is still held
}

func TestServerEndsWhenOutputIsClosed(t *testing.T) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "garbage"} {
		c := connect(t, Server{Calls: &fakeUseCases{}}, "t")
		c.close()
		_, _ = io.WriteString(c.in, line+"\n")
		c.end()
	}
}

func TestDuplicateActiveIDIsRejected(t *testing.T) {
	f := &fakeUseCases{release: make(chan struct{}), entered: make(chan struct{}, 2)}
	c := connect(t, Server{Calls: f}, "t")
	for range 2 {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows"}}`)
	}
	if m := c.read(); m.Error == nil || m.Error.Code != -32600 || m.ID != nil {
		t.Errorf("the second: %+v", m)
	}
	close(f.release)
	if m := c.read(); m.Error != nil || m.ID != 1.0 {
		t.Errorf("the first: %+v", m)
	}
	if d, _ := c.tool("list_workflows", "{}"); d.Kind != "workflows" {
		t.Errorf("the id again: %+v", d)
	}
}

func TestServeLeavesNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		c := connect(t, Server{Calls: &fakeUseCases{}}, "t")
		c.tool("list_workflows", "{}")
		_ = c.in.Close()
		c.end()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

func TestErrorsAreToolResults(t *testing.T) {
	f := &fakeUseCases{fail: fault.New(fault.TokenSessionLocked, "session x is busy").With("holderPid", 7)}
	c := connect(t, Server{Calls: f}, "t")
	if d, isError := c.tool("list_workflows", "{}"); !isError || d.Kind != "error" ||
		d.Error.Code != "TOKEN_SESSION_LOCKED" || d.Error.Details["holderPid"] != 7.0 {
		t.Errorf("got %+v", d)
	}
	f.fail = errors.New("something else")
	if d, isError := c.tool("list_workflows", "{}"); !isError || d.Error.Code != "INTERNAL_ERROR" {
		t.Errorf("got %+v", d)
	}
	f.fail = fault.New(fault.StoreIO, "cannot say \xff").With("x", "\xff")
	if d, isError := c.tool("list_workflows", "{}"); !isError || d.Error.Code != "STORE_IO" || d.Error.Message == "" {
		t.Errorf("got %+v", d)
	}
	f.fail, f.panics = nil, true
	if d, isError := c.tool("list_workflows", "{}"); !isError || d.Error.Code != "INTERNAL_ERROR" {
		t.Errorf("got %+v", d)
	}
	f.panics = false
	if d, isError := c.tool("list_workflows", "{}"); isError || d.Kind != "workflows" {
		t.Errorf("the server does not continue: %+v", d)
	}
}

func TestActorOfCalls(t *testing.T) {
	rows := []struct{ client, as, want string }{
		{"an-editor", "", "an-editor"},
		{"an-editor", "reviewer", "reviewer"},
		{"", "", ""},
		{strings.Repeat("x", limits.ActorRefMax+1), "", ""},
		{"two\nlines", "", ""},
		{"Ärzte 医", "", "Ärzte 医"},
	}
	for _, row := range rows {
		f := &fakeUseCases{}
		c := connect(t, Server{Calls: f, ActorRef: row.as}, row.client)
		c.tool("start_workflow", `{"workflowId":"x"}`)
		if want := (event.Actor{Kind: event.Agent, Ref: row.want}); f.actor != want {
			t.Errorf("client %q as %q: got %+v, want %+v", row.client, row.as, f.actor, want)
		}
	}
}
