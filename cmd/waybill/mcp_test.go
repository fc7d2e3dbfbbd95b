package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// agent is a client of 'waybill mcp' that writes and reads raw lines. Everything that
// the server writes on stdout passes through it, and must be a message.
type agent struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	cmd  *exec.Cmd // nil in process
	next int
}

// reply is a tool's document, with what every answer about a run has.
type reply struct {
	Kind string `json:"kind"`
	Data struct {
		Session struct {
			SessionID string
			RunID     string
		}
		Workflow struct{ WorkflowID, Name string }
		Pending  *struct {
			StepID, StepInstanceKey, Prompt string
		}
		IsComplete                            bool
		Status                                string
		StateToken, AckToken, CheckpointToken string
		Next                                  *struct {
			Command []string
			Tool    string
			Params  map[string]any
		}
		Blockers  []struct{ Code, Message string }
		Workflows []struct {
			WorkflowID string
			Valid      bool
		}
		Candidates []struct{ RunID, SessionID, StateToken string }
	} `json:"data"`
	Error struct {
		Code, Message, Suggestion string
		Retry                     struct{ Kind string }
		Details                   map[string]any
	} `json:"error"`
	raw     string
	isError bool
}

// agent starts a server of its own.
func (p program) agent(flags ...string) *agent {
	p.t.Helper()
	cmd := p.command(append([]string{"mcp"}, flags...)...)
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = cmd.StdoutPipe(); err == nil {
			cmd.Stderr = os.Stderr
			if err = cmd.Start(); err == nil {
				c := &agent{t: p.t, in: in, out: bufio.NewReaderSize(out, 1<<20), cmd: cmd}
				p.t.Cleanup(func() { _ = cmd.Process.Kill() })
				c.greet()
				return c
			}
		}
	}
	p.t.Fatal(err)
	return nil
}

func (c *agent) greet() {
	c.t.Helper()
	c.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}`)
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *agent) write(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// message reads one line, which must be a message of the protocol.
func (c *agent) message() (id any, result json.RawMessage, problem string) {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("the server says nothing more: %v", err)
	}
	var m struct {
		JSONRPC string
		ID      any
		Result  json.RawMessage
		Error   *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
		c.t.Fatalf("not of the protocol: %s", line)
	}
	if m.Error != nil {
		problem = m.Error.Message
	}
	return m.ID, m.Result, problem
}

func (c *agent) call(method, params string) json.RawMessage {
	c.t.Helper()
	c.next++
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params))
	id, result, problem := c.message()
	if problem != "" || id != float64(c.next) {
		c.t.Fatalf("%s %s: %v %s", method, params, id, problem)
	}
	return result
}

// tool calls a tool; args is JSON text, or what becomes it.
func (c *agent) tool(name string, args any) reply {
	c.t.Helper()
	text, ok := args.(string)
	if !ok {
		raw, err := json.Marshal(args)
		if err != nil {
			c.t.Fatal(err)
		}
		text = string(raw)
	}
	return c.reply(c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, text)))
}

func (c *agent) reply(result json.RawMessage) (r reply) {
	c.t.Helper()
	var res struct {
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(result, &res); err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(res.StructuredContent, &r); err != nil {
		c.t.Fatalf("%v: %s", err, res.StructuredContent)
	}
	r.raw, r.isError = string(res.StructuredContent), res.IsError
	if r.isError != (r.Kind == "error") {
		c.t.Fatalf("isError %v for %s", r.isError, r.raw)
	}
	return r
}

// ready is the ready call of an answer with words in the places that wait for them.
func (r reply) ready(words string) map[string]any {
	if r.Data.Next == nil {
		return map[string]any{"there is no next call in": r.raw}
	}
	var fill func(v any) any
	fill = func(v any) any {
		at, ok := v.(map[string]any)
		if !ok {
			if v == "…" {
				return words
			}
			return v
		}
		out := map[string]any{}
		for k, m := range at {
			out[k] = fill(m)
		}
		return out
	}
	return fill(r.Data.Next.Params).(map[string]any)
}

// ends closes the input and wants a clean end.
func (c *agent) ends() {
	c.t.Helper()
	_ = c.in.Close()
	if rest, err := io.ReadAll(c.out); len(rest) > 0 || err != nil {
		c.t.Errorf("after the end: %q, %v", rest, err)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the server ended with %v", err)
	}
}

const talk = `id: %s
name: %s
description: A talk in three steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: Do the first thing., notesRequired: true}
  - id: two
    title: Two
    prompt: Do it for {{customer}}.
    inputs: [{contextKey: customer, reason: needs_user_choice, choiceKind: scope_boundary, description: Who is it for}]
  - {id: three, title: Three, prompt: Do the last thing.}
`

// talker is a program in a folder with workflows.
func talker(t *testing.T, ids ...string) program {
	t.Helper()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	for _, id := range ids {
		p.workflow(id)
	}
	return p
}

func (p program) workflow(id string) {
	p.t.Helper()
	dir := filepath.Join(p.dir, ".waybill", "workflows")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".yaml"), fmt.Appendf(nil, talk, id, "The "+id), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p program) verified() {
	p.t.Helper()
	var v struct {
		OK       bool
		Sessions []struct{ Findings []any }
	}
	p.json(&v, "verify")
	if !v.OK {
		p.t.Errorf("verify: %+v", v)
	}
}

// TestAnAgentGoesOnAfterItsServerWasKilled: the tokens of one server are good in the
// next, and what was acknowledged is answered again byte for byte.
func TestAnAgentGoesOnAfterItsServerWasKilled(t *testing.T) {
	p := talker(t, "test.talk")
	c := p.agent()
	if list := c.tool("list_workflows", "{}"); !strings.Contains(list.raw, `"test.talk"`) || strings.Contains(list.raw, `"test.later"`) {
		t.Fatalf("got %s", list.raw)
	}
	p.workflow("test.later")
	if list := c.tool("list_workflows", "{}"); !strings.Contains(list.raw, `"test.later"`) {
		t.Error("a file that was added is not seen")
	}
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	if one.Kind != "step" || one.Data.Pending.StepID != "one" || one.Data.Next.Tool != "continue_workflow" {
		t.Fatalf("got %s", one.raw)
	}
	blocked := c.tool("continue_workflow", map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken})
	if blocked.Kind != "blocked" || blocked.isError || len(blocked.Data.Blockers) != 1 || blocked.Data.AckToken == one.Data.AckToken {
		t.Fatalf("got %s", blocked.raw)
	}
	first := blocked.ready("The first thing is done.")
	two := c.tool("continue_workflow", first)
	if two.Kind != "step" || two.Data.Pending.StepID != "two" {
		t.Fatalf("got %s", two.raw)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()

	c = p.agent()
	if again := c.tool("continue_workflow", first); again.raw != two.raw {
		t.Errorf("the same call gives\n%s\nand gave\n%s", again.raw, two.raw)
	}
	look := c.tool("continue_workflow", map[string]any{"stateToken": two.Data.StateToken})
	if look.Data.AckToken != two.Data.AckToken {
		t.Errorf("a look gives another ack token: %s", look.raw)
	}
	text, err := p.command("continue", "--state", two.Data.StateToken, "--json").Output()
	if err != nil || !same(t, string(text), look.raw) {
		t.Errorf("the command line gives another document: %v\n%s\n%s", err, text, look.raw)
	}
	three := c.tool("continue_workflow", two.ready("ACME"))
	if three.Kind != "step" || three.Data.Pending.StepID != "three" {
		t.Fatalf("got %s", three.raw)
	}
	end := c.tool("continue_workflow", three.ready("All done."))
	if !end.Data.IsComplete || end.Data.Next != nil {
		t.Fatalf("got %s", end.raw)
	}
	c.ends()
	var log struct {
		Events []struct {
			Kind  string
			Actor struct{ Kind, Ref string }
		} `json:"events"`
	}
	p.json(&log, "runs", "events", "@last")
	for _, e := range log.Events {
		if e.Actor.Kind != "engine" && (e.Actor.Kind != "agent" || e.Actor.Ref != "tester") {
			t.Errorf("%s is by %+v", e.Kind, e.Actor)
		}
	}
	p.verified()
}

// same compares two documents but for how the ready command names the store: both
// servers and the command line were given the same one.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// TestTwoWorkflowsInOneChat: tokens that are mixed up are refused with both runs
// named, nothing is recorded, and the ready calls of the answers lead both to their end.
func TestTwoWorkflowsInOneChat(t *testing.T) {
	p := talker(t, "test.talk", "test.walk")
	c := p.agent()
	runs := map[string]reply{}
	for _, id := range []string{"test.talk", "test.walk"} {
		runs[id] = c.tool("start_workflow", map[string]any{"workflowId": id})
	}
	a, b := runs["test.talk"], runs["test.walk"]
	mixed := c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken, "ackToken": b.Data.AckToken,
		"output": map[string]any{"notesMarkdown": "for which?"}})
	if mixed.Error.Code != "TOKEN_SCOPE_MISMATCH" {
		t.Fatalf("got %s", mixed.raw)
	}
	for _, want := range []string{a.Data.Session.RunID, b.Data.Session.RunID, "test.talk", "test.walk"} {
		if !strings.Contains(mixed.Error.Message, want) {
			t.Errorf("%s is not named: %s", want, mixed.Error.Message)
		}
	}
	if !strings.Contains(mixed.Error.Suggestion, "send the ack token that came with its state token") || strings.Contains(mixed.Error.Suggestion, "'waybill ") {
		t.Errorf("suggestion: %s", mixed.Error.Suggestion)
	}
	if mixed.Error.Details["stateRunId"] != a.Data.Session.RunID || mixed.Error.Details["ackRunId"] != b.Data.Session.RunID {
		t.Errorf("details: %v", mixed.Error.Details)
	}
	stale := c.tool("continue_workflow", a.ready("Talked."))
	old := c.tool("continue_workflow", map[string]any{"stateToken": stale.Data.StateToken, "ackToken": a.Data.AckToken})
	if old.Error.Code != "TOKEN_SCOPE_MISMATCH" || strings.Contains(old.Error.Suggestion, "'waybill ") || !strings.Contains(old.Error.Suggestion, "resume_session") {
		t.Errorf("tokens of two answers: %s", old.raw)
	}
	runs["test.talk"] = stale
	for range 10 {
		for id, r := range runs {
			if r.Data.IsComplete {
				continue
			}
			if r.Data.Workflow.WorkflowID != id {
				t.Fatalf("an answer of %s names %s", id, r.Data.Workflow.WorkflowID)
			}
			runs[id] = c.tool("continue_workflow", r.ready("done in "+id))
		}
	}
	for id, r := range runs {
		if !r.Data.IsComplete || r.Data.Session.RunID == "" {
			t.Errorf("%s: %s", id, r.raw)
		}
	}
	found := c.tool("resume_session", map[string]any{"runId": a.Data.Session.RunID})
	if len(found.Data.Candidates) != 2 || found.Data.Candidates[0].RunID != a.Data.Session.RunID {
		t.Fatalf("got %s", found.raw)
	}
	if look := c.tool("continue_workflow", map[string]any{"stateToken": found.Data.Candidates[0].StateToken}); look.Data.Session.RunID != a.Data.Session.RunID {
		t.Errorf("got %s", look.raw)
	}
	if r := c.tool("resume_session", `{"runId":"the first one"}`); r.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("got %s", r.raw)
	}
	c.ends()
	p.verified()
}

func TestTheServerEndsCleanly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no such signals")
	}
	p := talker(t, "test.talk")
	rows := map[string]func(c *agent){
		"SIGTERM": func(c *agent) { _ = c.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(c *agent) { _ = c.cmd.Process.Signal(os.Interrupt) },
		"the input ends in the middle of a message": func(c *agent) {
			_, _ = io.WriteString(c.in, `{"jsonrpc":"2.0","id":9,"method":"tools/li`)
			_ = c.in.Close()
		},
	}
	for name, end := range rows {
		c := p.agent()
		end(c)
		if _, err := io.ReadAll(c.out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The client is gone: both its ends are closed, and an answer is on its way.
	cmd := p.command("mcp")
	in, _ := cmd.StdinPipe()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_ = r.Close()
	for range 3 {
		_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		time.Sleep(20 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("nobody reads: %v", err)
	}
}

// TestACallMeetsABusySession: it is told as data when to try again, and nothing is
// held between calls.
func TestACallMeetsABusySession(t *testing.T) {
	p := talker(t, "test.talk")
	c := p.agent("--lock-wait", "50ms")
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	lock := flock.New(filepath.Join(p.store, "sessions", one.Data.Session.SessionID, ".lock"))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatalf("the server holds the lock between calls: %v", err)
	}
	busy := c.tool("continue_workflow", one.ready("done"))
	if busy.Error.Code != "TOKEN_SESSION_LOCKED" || busy.Error.Retry.Kind != "retryable_after_ms" {
		t.Errorf("got %s", busy.raw)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if two := c.tool("continue_workflow", one.ready("done")); two.Kind != "step" || two.Data.Pending.StepID != "two" {
		t.Errorf("got %s", two.raw)
	}
	c.ends()
}

// TestManyIdenticalCallsAreOne: they are sent side by side, one advances and the
// others are told the same.
func TestManyIdenticalCallsAreOne(t *testing.T) {
	const calls = 12
	p := talker(t, "test.talk")
	c := p.agent("--lock-wait", "20s")
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	args, _ := json.Marshal(one.ready("done"))
	for i := range calls {
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"continue_workflow","arguments":%s}}`, 100+i, args))
	}
	answers := map[string]int{}
	for range calls {
		_, result, problem := c.message()
		if problem != "" {
			t.Fatal(problem)
		}
		answers[c.reply(result).raw]++
	}
	if len(answers) != 1 {
		t.Errorf("%d answers: %v", len(answers), answers)
	}
	c.ends()
	p.verified()
}

// TestHowFarAnAgentMayGo: more autonomy than the store allows is refused, with who may
// change that; the running server sees the change.
func TestHowFarAnAgentMayGo(t *testing.T) {
	p := talker(t, "test.talk")
	c := p.agent()
	start := func() reply {
		return c.tool("start_workflow", `{"workflowId":"test.talk","preferences":{"autonomy":"full_auto_never_stop"}}`)
	}
	r := start()
	if r.Error.Code != "VALIDATION_ERROR" || !strings.Contains(r.Error.Message, "full_auto_stop_on_user_deps") || !strings.Contains(r.Error.Suggestion, "user") {
		t.Errorf("got %s", r.raw)
	}
	if _, err := os.Stat(p.store); err == nil {
		t.Error("a refused start made a store")
	}
	if out, err := p.command("config", "set", "agentMaxAutonomy", "full_auto_never_stop").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r = start(); r.Kind != "step" || !strings.Contains(r.raw, `"autonomy":"full_auto_never_stop"`) {
		t.Errorf("got %s", r.raw)
	}
	if r = c.tool("start_workflow", `{"workflowId":"test.talk","preferences":{"autonomy":"reckless"}}`); r.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("got %s", r.raw)
	}
	c.ends()
}

// TestWhatAnAgentGetsWrong: the error says what is wrong and what to do, in the words
// of the tools.
func TestWhatAnAgentGetsWrong(t *testing.T) {
	p := talker(t, "test.talk")
	c := p.agent()
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	big := strings.Repeat("x", 300<<10)
	rows := []struct {
		name, tool string
		args       map[string]any
		code, says string // what message or suggestion must hold
	}{
		{"a workflow that is not there", "start_workflow", map[string]any{"workflowId": "test.tolk"}, "WORKFLOW_NOT_FOUND", "test.talk"},
		{"a path", "start_workflow", map[string]any{"workflowId": "./talk.yaml"}, "WORKFLOW_NOT_FOUND", "list_workflows"},
		{"too much context", "start_workflow", map[string]any{"workflowId": "test.talk", "context": map[string]any{"b": big}}, "VALIDATION_ERROR", "262144"},
		{"a token cut off", "continue_workflow", map[string]any{"stateToken": one.Data.StateToken[:40]}, "TOKEN_INVALID_FORMAT", "resume_session"},
		{"a token changed", "continue_workflow", map[string]any{"stateToken": one.Data.StateToken[:len(one.Data.StateToken)-3] + "AAA"}, "TOKEN_BAD_SIGNATURE", "resume_session"},
		{"output without ack", "continue_workflow", map[string]any{"stateToken": one.Data.StateToken, "output": map[string]any{"notesMarkdown": "n"}}, "VALIDATION_ERROR", "ackToken"},
		{"an approval", "continue_workflow", map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken,
			"output": map[string]any{"artifacts": []any{map[string]any{"kind": "wr.human_approval"}}}}, "VALIDATION_ERROR", "approve"},
	}
	for _, row := range rows {
		r := c.tool(row.tool, row.args)
		if r.Error.Code != row.code || !strings.Contains(r.Error.Message+" "+r.Error.Suggestion, row.says) {
			t.Errorf("%s: %s", row.name, r.raw)
		}
	}
	tooMuch := c.tool("continue_workflow", map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken, "context": map[string]any{"b": big}})
	if d := tooMuch.Error.Details; d["maxBytes"] != 262144.0 || d["measuredBytes"].(float64) < 300<<10 || d["method"] == nil {
		t.Errorf("too much context: %s", tooMuch.raw)
	}
	long := c.tool("continue_workflow", one.ready(strings.Repeat("long ", 2000)))
	if long.Kind != "step" || !strings.Contains(long.raw, `"NOTES_TRUNCATED"`) {
		t.Errorf("long notes: %s", long.raw)
	}
	c.ends()
}

// TestACheckpointKeepsWhatIsDone: the step stays pending, and the same call again
// records nothing new.
func TestACheckpointKeepsWhatIsDone(t *testing.T) {
	p := talker(t, "test.talk")
	c := p.agent()
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	args := map[string]any{"stateToken": one.Data.StateToken, "checkpointToken": one.Data.CheckpointToken, "output": map[string]any{"notesMarkdown": "Half of it."}}
	kept := c.tool("checkpoint_workflow", args)
	if kept.Kind != "step" || kept.Data.Pending.StepID != "one" {
		t.Fatalf("got %s", kept.raw)
	}
	if again := c.tool("checkpoint_workflow", args); again.raw != kept.raw {
		t.Errorf("the same call gives\n%s\nand gave\n%s", again.raw, kept.raw)
	}
	args["checkpointToken"] = one.Data.AckToken
	if r := c.tool("checkpoint_workflow", args); !strings.HasPrefix(r.Error.Code, "TOKEN_") {
		t.Errorf("an ack token in its place: %s", r.raw)
	}
	if two := c.tool("continue_workflow", kept.ready("All of it.")); two.Data.Pending == nil || two.Data.Pending.StepID != "two" {
		t.Errorf("got %s", two.raw)
	}
	c.ends()
	p.verified()
}

const threeRounds = `id: test.rounds
name: Rounds
description: A step, three rounds, a step.
version: 1.0.0
steps:
  - {id: first, title: First, prompt: Begin.}
  - id: again
    type: loop
    title: Again
    loop: {type: for, count: 3, maxIterations: 5}
    body:
      - {id: turn, title: Turn, prompt: "This is turn {{currentIteration}}."}
  - {id: last, title: Last, prompt: End.}
`

// TestALoopOverManyServers: each call is made to a server of its own, which is killed
// when it has answered. An agent that only follows next.params goes all the way round.
func TestALoopOverManyServers(t *testing.T) {
	p := talker(t, "test.talk")
	if err := os.WriteFile(filepath.Join(p.dir, ".waybill", "workflows", "rounds.yaml"), []byte(threeRounds), 0o600); err != nil {
		t.Fatal(err)
	}
	kill := func(c *agent) {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
	c := p.agent()
	r := c.tool("start_workflow", `{"workflowId":"test.rounds"}`)
	kill(c)
	var went []string
	for range 10 {
		if r.Data.Pending == nil {
			break
		}
		went = append(went, r.Data.Pending.StepInstanceKey)
		if n := len(went) - 1; r.Data.Pending.StepID == "turn" && !strings.Contains(r.Data.Pending.Prompt, fmt.Sprintf("This is turn %d.", n)) {
			t.Errorf("turn %d: %s", n, r.Data.Pending.Prompt)
		}
		c = p.agent()
		r = c.tool("continue_workflow", r.ready("done"))
		kill(c)
	}
	want := []string{"first", "again@0::turn", "again@1::turn", "again@2::turn", "last"}
	if !r.Data.IsComplete || !reflect.DeepEqual(went, want) {
		t.Errorf("went %v, want %v: %s", went, want, r.raw)
	}
	p.verified()
}
