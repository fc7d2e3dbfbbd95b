package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// fakeUseCases records its arguments, answers every call with fixed data, and counts concurrent
// calls.
type fakeUseCases struct {
	mu          sync.Mutex
	actor       event.Actor
	by          Caller
	last        any
	fail        error
	panics      bool
	delay       time.Duration
	release     chan struct{} // if not nil, calls wait for it
	entered     chan struct{}
	running     atomic.Int32
	runningMost atomic.Int32
	calls       atomic.Int32
	question    *Question
	answers     []string
	startable   []Startable
	runs        []ListedRun
}

type fakeData struct {
	Text string `json:"text"`
}

func (f *fakeUseCases) do(kind string, by Caller, in any) (Document, error) {
	n := f.running.Add(1)
	defer f.running.Add(-1)
	f.calls.Add(1)
	f.mu.Lock()
	f.actor, f.by, f.last = by.Actor, by, in
	if f.runningMost.Load() < n {
		f.runningMost.Store(n)
	}
	f.mu.Unlock()
	if f.entered != nil {
		f.entered <- struct{}{}
	}
	if f.release != nil {
		<-f.release
	}
	time.Sleep(f.delay)
	if f.panics {
		panic("a bug")
	}
	return Document{kind, fakeData{"done"}}, f.fail
}

func (f *fakeUseCases) ListWorkflows(_ context.Context, _ Caller, in ListWorkflows) (Document, error) {
	return f.do("workflows", Caller{}, in)
}
func (f *fakeUseCases) InspectWorkflow(_ context.Context, _ Caller, in InspectWorkflow) (Document, error) {
	return f.do("workflow", Caller{}, in)
}
func (f *fakeUseCases) StartWorkflow(_ context.Context, by Caller, in StartWorkflow) (Document, error) {
	return f.do("step", by, in)
}
func (f *fakeUseCases) ContinueWorkflow(ctx context.Context, by Caller, in ContinueWorkflow) (Document, error) {
	if f.question != nil && by.Ask != nil {
		values, accepted, err := by.Ask(ctx, *f.question)
		if err != nil {
			return Document{}, err
		}
		f.mu.Lock()
		f.answers = append(f.answers, fmt.Sprint(values, accepted))
		f.mu.Unlock()
	}
	return f.do("step", by, in)
}
func (f *fakeUseCases) CheckpointWorkflow(_ context.Context, by Caller, in CheckpointWorkflow) (Document, error) {
	return f.do("step", by, in)
}
func (f *fakeUseCases) ResumeSession(_ context.Context, _ Caller, in ResumeSession) (Document, error) {
	return f.do("candidates", Caller{}, in)
}

func (f *fakeUseCases) Startable(context.Context) ([]Startable, error) {
	return f.startable, f.fail
}
func (f *fakeUseCases) LatestRuns(_ context.Context, n int) ([]ListedRun, error) {
	return f.runs[:min(n, len(f.runs))], f.fail
}
func (f *fakeUseCases) ShowRun(_ context.Context, id string) (Document, error) {
	return f.do("run", Caller{}, id)
}

// message is a line that the server wrote.
type message struct {
	ID     any
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// doc is a tool's document.
type document struct {
	V     int
	Kind  string
	Data  fakeData
	Error struct {
		Code, Message, Suggestion string
		Details                   map[string]any
	}
}

// client exchanges raw lines with a server: the test must not share the SDK's interpretation of the
// protocol.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	close func() // closes the client's end of the output
	stop  context.CancelFunc
	ended chan error
	next  int
}

func dial(t *testing.T, s Server) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	c := &client{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), stop: stop, ended: make(chan error, 1)}
	c.close = func() { _ = outR.CloseWithError(errors.New("output closed")) }
	go func() {
		c.ended <- s.Serve(ctx, inR, outW)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
		stop()
	})
	return c
}

// connect is dial followed by the handshake.
func connect(t *testing.T, s Server, name string) *client {
	t.Helper()
	c := dial(t, s)
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, name)
	if m := c.read(); m.Error != nil || m.ID != "hello" {
		t.Fatalf("initialize: %+v", m)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() (m message) {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	var version struct{ JSONRPC string }
	if json.Unmarshal([]byte(line), &version) != nil || version.JSONRPC != "2.0" ||
		json.Unmarshal([]byte(line), &m) != nil {
		c.t.Fatalf("no message: %s", line)
	}
	return m
}

// call makes one call and reads its answer.
func (c *client) call(method, params string) message {
	c.t.Helper()
	c.next++
	c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params)
	m := c.read()
	if m.ID != float64(c.next) {
		c.t.Fatalf("%s: the answer has id %v, want %d", method, m.ID, c.next)
	}
	return m
}

// tool calls a tool with raw arguments.
func (c *client) tool(name, args string) (d document, isError bool) {
	c.t.Helper()
	m := c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	if m.Error != nil {
		c.t.Fatalf("%s %s: a protocol error: %+v", name, args, m.Error)
	}
	var r struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text != string(r.StructuredContent) {
		c.t.Fatalf("text and structure differ: %s", m.Result)
	}
	if err := json.Unmarshal(r.StructuredContent, &d); err != nil || d.V != 1 {
		c.t.Fatalf("no document: %s", r.StructuredContent)
	}
	return d, r.IsError
}

// end waits for the server, which must end by itself and without an error.
func (c *client) end() {
	c.t.Helper()
	select {
	case err := <-c.ended:
		if err != nil {
			c.t.Errorf("the server ended with %v (%s)", err, fault.CodeOf(err))
		}
	case <-time.After(time.Minute):
		c.t.Fatal("the server does not end")
	}
}
