package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/infra/controlfile"
)

// TestBusySession: the error states when to try again, and the server holds no lock between
// calls.
func TestBusySession(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
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

// TestConcurrentIdenticalCalls: one call advances the run, the others return the same answer.
func TestConcurrentIdenticalCalls(t *testing.T) {
	t.Parallel()
	const calls = 12
	p := programWithWorkflows(t, "test.talk")
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

// TestAgentMaxAutonomy: more autonomy than configured is rejected, and the suggestion refers to
// the user; a running server notices a changed configuration.
func TestAgentMaxAutonomy(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	c := p.agent()
	start := func() reply {
		return c.tool("start_workflow", `{"workflowId":"test.talk","preferences":{"autonomy":"full_auto_never_stop"}}`)
	}
	r := start()
	if r.Error.Code != "VALIDATION_ERROR" || !strings.Contains(r.Error.Message, "full_auto_stop_on_user_deps") ||
		!strings.Contains(r.Error.Suggestion, "user") {
		t.Errorf("got %s", r.raw)
	}
	if _, err := os.Stat(p.store); err == nil {
		t.Error("a rejected start created a store")
	}
	configure(t, p.dir, "agentMaxAutonomy", "full_auto_never_stop", "--store", p.store)
	if r = start(); r.Kind != "step" || !strings.Contains(r.raw, `"autonomy":"full_auto_never_stop"`) {
		t.Errorf("got %s", r.raw)
	}
	if r = c.tool("start_workflow",
		`{"workflowId":"test.talk","preferences":{"autonomy":"reckless"}}`); r.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("got %s", r.raw)
	}
	c.ends()
}

// TestUnconfirmedAutonomy: a limit that no person confirmed permits an agent no more than guided,
// whether the file was edited with a digest that fits, or deleted after a person had lowered it.
func TestUnconfirmedAutonomy(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	configure(t, p.dir, "agentMaxAutonomy", "guided", "--store", p.store)
	at := filepath.Join(p.store, "config.json")
	c := p.agent()
	start := func(autonomy string) string {
		return c.tool("start_workflow", `{"workflowId":"test.talk","preferences":{"autonomy":"`+autonomy+`"}}`).Error.Code
	}
	if code := start("full_auto_stop_on_user_deps"); code != "VALIDATION_ERROR" {
		t.Errorf("more than the limit: %q", code)
	}
	data, err := canon.Parse([]byte(`{"agentMaxAutonomy":"full_auto_never_stop"}`))
	if err != nil {
		t.Fatal(err)
	}
	edited, err := controlfile.Encode(controlfile.Document{Kind: "config", V: 1, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	for _, exchange := range []func() error{func() error { return os.WriteFile(at, edited, 0o600) },
		func() error { return os.Remove(at) }} {
		if err := exchange(); err != nil {
			t.Fatal(err)
		}
		for _, autonomy := range []string{"full_auto_stop_on_user_deps", "full_auto_never_stop"} {
			if code := start(autonomy); code != "POLICY_UNCONFIRMED" {
				t.Errorf("%s: %q", autonomy, code)
			}
		}
		if code := start("guided"); code != "" {
			t.Errorf("guided: %q", code)
		}
	}
	c.ends()
}

// TestInvalidCalls: errors contain the problem and a correction in terms of the tools.
func TestInvalidCalls(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	c := p.agent()
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	big := strings.Repeat("x", 300<<10)
	rows := []struct {
		name, tool string
		args       map[string]any
		code, text string // text: required in message or suggestion
	}{
		{"an unknown workflow", "start_workflow", map[string]any{"workflowId": "test.tolk"},
			"WORKFLOW_NOT_FOUND", "test.talk"},
		{"a path", "start_workflow", map[string]any{"workflowId": "./talk.yaml"}, "WORKFLOW_NOT_FOUND", "is a path"},
		{"an id of 300 KiB", "start_workflow", map[string]any{"workflowId": big}, "WORKFLOW_NOT_FOUND",
			"307200 bytes"},
		{"next.params as they were", "continue_workflow", one.Data.Next.Params, "VALIDATION_ERROR", "the notes are"},
		{"too much context", "start_workflow",
			map[string]any{"workflowId": "test.talk", "context": map[string]any{"b": big}}, "VALIDATION_ERROR",
			"262144"},
		{"a token cut off", "continue_workflow", map[string]any{"stateToken": one.Data.StateToken[:40]},
			"TOKEN_INVALID_FORMAT", "resume_session"},
		{"a token changed", "continue_workflow",
			map[string]any{"stateToken": one.Data.StateToken[:len(one.Data.StateToken)-3] + "AAA"},
			"TOKEN_BAD_SIGNATURE", "resume_session"},
		{"output without ack", "continue_workflow",
			map[string]any{"stateToken": one.Data.StateToken, "output": map[string]any{"notesMarkdown": "n"}},
			"VALIDATION_ERROR", "ackToken"},
		{"an approval", "continue_workflow",
			map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken,
				"output": map[string]any{"artifacts": []any{map[string]any{"kind": "wr.human_approval"}}}},
			"VALIDATION_ERROR", "approve"},
	}
	for _, row := range rows {
		r := c.tool(row.tool, row.args)
		if r.Error.Code != row.code || !strings.Contains(r.Error.Message+" "+r.Error.Suggestion, row.text) {
			t.Errorf("%s: %s", row.name, r.raw)
		}
	}
	tooMuch := c.tool("continue_workflow",
		map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken,
			"context": map[string]any{"b": big}})
	if d := tooMuch.Error.Details; d["maxBytes"] != 262144.0 || d["measuredBytes"].(float64) < 300<<10 ||
		d["method"] == nil {
		t.Errorf("too much context: %s", tooMuch.raw)
	}
	long := c.tool("continue_workflow", one.ready(strings.Repeat("long ", 2000)))
	if long.Kind != "step" || !strings.Contains(long.raw, `"NOTES_TRUNCATED"`) {
		t.Errorf("long notes: %s", long.raw)
	}
	c.ends()
}

// TestCheckpointIsIdempotent: the step stays pending, and repeating the call records nothing.
func TestCheckpointIsIdempotent(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	c := p.agent()
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	args := map[string]any{"stateToken": one.Data.StateToken, "checkpointToken": one.Data.CheckpointToken,
		"output": map[string]any{"notesMarkdown": "Half of it."}}
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
	if two := c.tool("continue_workflow", kept.ready("All of it.")); two.Data.Pending == nil ||
		two.Data.Pending.StepID != "two" {
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

// TestLoopWithNewServerPerCall: each call uses a new server, which is killed after its answer.
// An agent that only follows next.params completes the loop.
func TestLoopWithNewServerPerCall(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	if err := os.WriteFile(filepath.Join(p.dir, ".waybill", "workflows", "rounds.yaml"), []byte(threeRounds),
		0o600); err != nil {
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
		if n := len(went) - 1; r.Data.Pending.StepID == "turn" &&
			!strings.Contains(r.Data.Pending.Prompt, fmt.Sprintf("This is turn %d.", n)) {
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
