package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// agent is a client of 'waybill mcp' that writes and reads raw lines. It checks that each line
// on the server's stdout is a message of the protocol.
type agent struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	cmd  *exec.Cmd // nil if the server runs in this process
	next int
}

// reply is the document of a tool, with the members of answers about a run.
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

// agent starts a new server process.
func (p program) agent(flags ...string) *agent {
	p.t.Helper()
	return agentOf(p.t, p.command(append([]string{"mcp"}, flags...)...))
}

// agentOf starts a server process and returns its client.
func agentOf(t *testing.T, cmd *exec.Cmd) *agent {
	t.Helper()
	c := serverOf(t, cmd)
	c.greet()
	return c
}

// serverOf is agentOf before the handshake.
func serverOf(t *testing.T, cmd *exec.Cmd) *agent {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = cmd.StdoutPipe(); err == nil {
			cmd.Stderr = os.Stderr
			if err = cmd.Start(); err == nil {
				c := &agent{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20), cmd: cmd}
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				return c
			}
		}
	}
	t.Fatal(err)
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
		c.t.Fatalf("cannot read from the server: %v", err)
	}
	var m struct {
		JSONRPC string
		ID      any
		Result  json.RawMessage
		Error   *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
		c.t.Fatalf("not a message of the protocol: %s", line)
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

// tool calls a tool; args is JSON text or a value to encode.
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

// ready returns the prepared next call of an answer with its placeholders replaced by words.
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

// ends closes the input and checks that the server exits cleanly.
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

// programWithWorkflows returns a program in a new directory with workflows.
func programWithWorkflows(t *testing.T, ids ...string) program {
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
