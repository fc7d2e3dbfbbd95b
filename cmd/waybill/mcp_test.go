package main

import (
	"encoding/json"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestContinueAfterServerWasKilled: the tokens of one server are valid in the next, and a
// repeated call returns the same answer byte for byte.
func TestContinueAfterServerWasKilled(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	c := p.agent()
	if list := c.tool("list_workflows", "{}"); !strings.Contains(list.raw, `"test.talk"`) ||
		strings.Contains(list.raw, `"test.later"`) {
		t.Fatalf("got %s", list.raw)
	}
	p.workflow("test.later")
	if list := c.tool("list_workflows", "{}"); !strings.Contains(list.raw, `"test.later"`) {
		t.Error("an added file is not listed")
	}
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	if one.Kind != "step" || one.Data.Pending.StepID != "one" || one.Data.Next.Tool != "continue_workflow" {
		t.Fatalf("got %s", one.raw)
	}
	blocked := c.tool("continue_workflow",
		map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken})
	if blocked.Kind != "blocked" || blocked.isError || len(blocked.Data.Blockers) != 1 ||
		blocked.Data.AckToken == one.Data.AckToken {
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
		t.Errorf("showing the step returns another ack token: %s", look.raw)
	}
	text, err := p.command("continue", "--state", two.Data.StateToken, "--json").Output()
	if err != nil || !same(t, string(text), look.raw) {
		t.Errorf("the command line returns another document: %v\n%s\n%s", err, text, look.raw)
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

// same reports that an answer of the command line is the one of the server, without what the server leaves
// out.
func same(t *testing.T, whole, brief string) bool {
	t.Helper()
	var x, y map[string]any
	if json.Unmarshal([]byte(whole), &x) != nil || json.Unmarshal([]byte(brief), &y) != nil {
		return false
	}
	data := x["data"].(map[string]any)
	for _, part := range []struct {
		of   map[string]any
		name string
	}{{data, "preferenceSources"}, {data["workflow"].(map[string]any), "workflowHash"},
		{data["next"].(map[string]any), "command"}} {
		if part.of[part.name] == nil {
			t.Errorf("the command line leaves out %s: %s", part.name, whole)
		}
		delete(part.of, part.name)
	}
	return reflect.DeepEqual(x, y)
}

// TestTokensOfTwoRuns: a call with tokens of two runs is rejected, names both runs and records
// nothing; the prepared next calls complete both runs.
func TestTokensOfTwoRuns(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk", "test.walk")
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
			t.Errorf("no %s in the message: %s", want, mixed.Error.Message)
		}
	}
	if !strings.Contains(mixed.Error.Suggestion, "send the ack token that came with its state token") ||
		strings.Contains(mixed.Error.Suggestion, "'waybill ") {
		t.Errorf("suggestion: %s", mixed.Error.Suggestion)
	}
	if mixed.Error.Details["stateRunId"] != a.Data.Session.RunID ||
		mixed.Error.Details["ackRunId"] != b.Data.Session.RunID {
		t.Errorf("details: %v", mixed.Error.Details)
	}
	stale := c.tool("continue_workflow", a.ready("Talked."))
	old := c.tool("continue_workflow", map[string]any{"stateToken": stale.Data.StateToken, "ackToken": a.Data.AckToken})
	if old.Error.Code != "TOKEN_SCOPE_MISMATCH" || strings.Contains(old.Error.Suggestion, "'waybill ") ||
		!strings.Contains(old.Error.Suggestion, "resume_session") {
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
	if look := c.tool("continue_workflow",
		map[string]any{"stateToken": found.Data.Candidates[0].StateToken}); look.Data.Session.RunID != a.Data.Session.RunID {
		t.Errorf("got %s", look.raw)
	}
	for args, code := range map[string]string{
		`{"runId":"run_aaaaaaaaaaaaaaaaaaaaaaaaaa"}`:                  "RUN_NOT_FOUND",
		`{"sessionId":"sess_aaaaaaaaaaaaaaaaaaaaaaaaaa","query":"x"}`: "SESSION_NOT_FOUND",
	} {
		if r := c.tool("resume_session", args); r.Error.Code != code ||
			!strings.Contains(r.Error.Suggestion, "resume_session") {
			t.Errorf("%s: %s", args, r.raw)
		}
	}
	if r := c.tool("resume_session", `{"runId":"the first one"}`); r.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("got %s", r.raw)
	}
	c.ends()
	p.verified()
}

func TestServerExitsCleanly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no such signals")
	}
	p := programWithWorkflows(t, "test.talk")
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
	// The client disconnects: both its pipes are closed while an answer is pending.
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
		t.Errorf("after the client disconnected: %v", err)
	}
}
