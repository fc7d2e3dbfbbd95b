package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/invisible"
)

// hostile has one character of each kind that a terminal executes, hides or uses to reorder text, and some that look
// like others.
const hostile = "p\u0430y \x1b[31mred\x1b]0;title\x07 \u009b2J \x7f \u202eltr\u2066\u2069 zero\u200b\u200d\u2060\ufeff\u061c " +
	"\u2028\u2029 tag\U000e0041 \ufe0f\u3164\u00ad\u034f\u180e line\nbreak\r\ttab"

// tame is hostile without controls and line breaks, which names of files and arguments of most commands may have.
const tame = "p\u0430y \u202eltr\u2066\u2069 zero\u200b\u200d\u2060\ufeff\u061c tag\U000e0041 \ufe0f\u3164\u00ad\u034f"

// printed calls commands in one directory and checks each document that they print.
type printed struct {
	*testing.T
	dir  string
	with int // documents whose values contained what was given
}

// call runs a command with --json and returns the member data of its document, nil for an error. Nothing of the output
// may be invisible, and it must be JSON.
func (c *printed) call(stdin string, args ...string) map[string]any {
	c.Helper()
	var out, errOut bytes.Buffer
	env := []string{"HOME=" + c.dir, "USERPROFILE=" + c.dir, "WAYBILL_HOME=" + filepath.Join(c.dir, "home"),
		"WAYBILL_LOG_FORMAT=json"}
	run(append(args, "--json"), strings.NewReader(stdin), &out, &errOut, env)
	var data map[string]any
	for line := range bytes.Lines(out.Bytes()) {
		doc := c.check(fmt.Sprint(args), bytes.TrimSuffix(line, []byte{'\n'}))
		data, _ = doc["data"].(map[string]any)
	}
	if out.Len() == 0 {
		c.Errorf("%v prints nothing: %s", args, errOut.String())
	}
	return data
}

// check requires that a line is one JSON value without an invisible character, and counts values that have a payload.
func (c *printed) check(what string, line []byte) (doc map[string]any) {
	c.Helper()
	if at := bytes.IndexFunc(line, invisible.Is); at >= 0 {
		r, _ := utf8.DecodeRune(line[at:])
		c.Errorf("%s: %U is printed: …%q", what, r, line[max(0, at-40):min(len(line), at+20)])
	}
	if err := json.Unmarshal(line, &doc); err != nil {
		c.Errorf("%s: %v: %.200s", what, err, line)
	}
	if hasPayload(doc) {
		c.with++
	}
	return doc
}

// hasPayload reports a value with a string or key that has one of the payloads, whole.
func hasPayload(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, hostile) || strings.Contains(v, tame)
	case []any:
		for _, e := range v {
			if hasPayload(e) {
				return true
			}
		}
	case map[string]any:
		for key, e := range v {
			if hasPayload(key) || hasPayload(e) {
				return true
			}
		}
	}
	return false
}

// text returns the text at a path of member names, "" if there is none.
func text(v any, path ...string) string {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	s, _ := v.(string)
	return s
}

// quoted is text as a JSON string.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// hostileWorkflow is a workflow that has a payload in each text of its author.
func hostileWorkflow(payload string) string {
	return strings.ReplaceAll(`{"id":"test.hostile","name":PAYLOAD,"description":PAYLOAD,"version":"1.0.0",
"preconditions":[PAYLOAD],"metaGuidance":[PAYLOAD],"steps":[
{"id":"a","title":PAYLOAD,"prompt":PAYLOAD,"agentRole":PAYLOAD,"guidance":[PAYLOAD],"notesRequired":true},
{"id":"b","title":PAYLOAD,"prompt":PAYLOAD,
 "inputs":[{"contextKey":"who","reason":"needs_user_choice","choiceKind":"scope_boundary","description":PAYLOAD}]}]}`,
		"PAYLOAD", quoted(payload))
}

// TestJSONDocumentsPrintNothingInvisible gives the corpus to every field that a user, a file or an agent controls, and
// reads the documents of every command that shows it.
func TestJSONDocumentsPrintNothingInvisible(t *testing.T) {
	c := &printed{T: t, dir: t.TempDir()}
	t.Chdir(c.dir)
	for name, payload := range map[string]string{"flow.json": hostile, tame + ".json": tame} {
		if err := os.WriteFile(name, []byte(hostileWorkflow(payload)), 0o600); err != nil {
			t.Fatal(err)
		}
		cases, _ := json.Marshal(map[string]any{"cases": []any{map[string]any{"name": payload, "answers": map[string]any{"a": []any{
			map[string]any{"notes": payload}}}, "expect": map[string]any{"prompts": map[string]any{"a": payload + "x"}}}}})
		if err := os.WriteFile(strings.TrimSuffix(name, ".json")+".test.json", cases, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"flow.json", tame + ".json"} {
		for _, args := range [][]string{{"workflows", "validate", file}, {"workflows", "inspect", file},
			{"workflows", "compile", file}, {"workflows", "test", file}, {"trust", "show", file}, {"workflows", "list"}} {
			c.call("", args...)
		}
		started := c.call("", "start", file, "--title", tame, "--tag", tame, "--as", tame, "--set", "note="+hostile)
		if started == nil {
			started = c.call("", "start", file, "--set", "note="+hostile)
		}
		runID := text(started, "session", "runId")
		if runID == "" {
			t.Fatalf("%s is not started: %v", file, started)
		}
		c.performs(runID)
		c.shows(runID)
		c.ends(runID, text(started, "session", "sessionId"))
	}
	c.refuses()
	if c.with < 40 {
		t.Errorf("only %d documents have what was given", c.with)
	}
	t.Logf("%d documents with a payload", c.with)
}

// performs hands in outputs, and feedback on them.
func (c *printed) performs(runID string) {
	c.Helper()
	artifact := `{"kind":` + quoted(hostile) + `,` + quoted(hostile) + `:` + quoted(hostile) + `}`
	if err := os.WriteFile("artifact.json", []byte(artifact), 0o600); err != nil {
		c.Fatal(err)
	}
	c.call("", "continue", "--run", runID, "--notes", hostile, "--artifact", "artifact.json")
	c.call("", "continue", "--run", runID, "--notes", hostile)
	c.call("", "checkpoint", "--run", runID, "--notes", hostile)
	c.call("", "continue", "--run", runID, "--set", "who="+hostile, "--notes", hostile)
	c.call("", "annotate", runID, "--label", tame, "--note", hostile)
	c.call("", "annotate", runID, "--correct", hostile, "--note", hostile, "--as", tame)
	c.call("", "annotate", runID, "--flag", "--note", hostile)
}

// shows reads everything that shows a run.
func (c *printed) shows(runID string) {
	c.Helper()
	for _, args := range [][]string{{"runs", "list"}, {"runs", "show", runID}, {"runs", "timeline", runID},
		{"runs", "graph", runID}, {"runs", "events", runID}, {"runs", "watch", runID, "--all", "--until-end"},
		{"runs", "watch", runID, "--all"}, {"runs", "explain", runID}, {"annotations", "list", runID},
		{"annotations", "summary"}, {"resume"}, {"resume", "--notes", hostile}, {"continue", "--run", runID},
		{"sessions", "list"}, {"audit"}, {"verify"}, {"replay", runID}, {"du"}, {"gc"}, {"doctor"}, {"proposals", "list"},
		{"capabilities"}, {"automations", "list"}, {"config", "get"}, {"keys", "list"}} {
		c.call("", args...)
	}
}

// ends exports, cancels and deletes a run.
func (c *printed) ends(runID, session string) {
	c.Helper()
	c.call("", "export", runID, "-o", tame+".bundle.json", "--force")
	c.call("", "bundle", "inspect", tame+".bundle.json")
	c.call("", "bundle", "verify", tame+".bundle.json")
	c.call("", "import", tame+".bundle.json", "--tenant", "other")
	c.call("", "runs", "cancel", runID, "--reason", hostile)
	c.call("", "runs", "cancel", runID, "--reason", tame)
	c.call("", "sessions", "keep", session, "--reason", hostile)
	c.call("", "sessions", "delete", session, "--yes")
	c.call("", "sessions", "keep", session, "--off")
	c.call("", "sessions", "delete", session, "--yes", "--reason", hostile)
	c.call("", "sessions", "list", "--trash")
	c.call("", "audit")
}

// refuses gives payloads where they are not accepted: errors name them.
func (c *printed) refuses() {
	c.Helper()
	for _, args := range [][]string{{hostile}, {"runs", hostile}, {"--" + tame}, {"run", tame}, {"start", hostile},
		{"runs", "show", hostile}, {"runs", "list", "--status", hostile}, {"verify", tame},
		{"verify", "x", "--expect-head", hostile}, {"workflows", "inspect", hostile}, {"schema", hostile},
		{"config", "set", tame, "1"}, {"config", "set", "retentionDays", hostile}, {"import", tame},
		{"bundle", "inspect", tame + "\n"}, {"artifacts", "erase", hostile, "--reason", hostile, "--yes"},
		{"continue", "--state", hostile, "--ack", hostile}, {"--tenant", tame, "runs", "list"},
		{"--store", tame + "/none", "runs", "list"}, {"--log-level", hostile, "runs", "list"},
		{"--lock-wait", hostile, "runs", "list"}, {"start", "flow.json", "--key", hostile},
		{"sessions", "restore", tame}, {"proposals", "get", hostile}, {"annotate", "@last", "--rate", hostile},
		{"export", "@last", "-o", tame + "/none/x.json"}} {
		c.call("", args...)
	}
}

// TestMCPLinesPrintNothingInvisible gives the corpus to the server of agents: lines, structured content and texts.
func TestMCPLinesPrintNothingInvisible(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	if err := os.WriteFile(filepath.Join(p.dir, ".waybill", "workflows", "hostile.json"),
		[]byte(hostileWorkflow(hostile)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &printed{T: t, dir: p.dir}
	var start struct{ StateToken, AckToken string }
	p.json(&start, "start", "test.hostile")
	calls := []string{
		`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":PAYLOAD,"version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":PAYLOAD,"method":"tools/list","params":{}}`,
		`{"jsonrpc":"2.0","id":"m","method":PAYLOAD,"params":{}}`,
		`{"jsonrpc":"2.0","id":"d","method":"ping","params":{PAYLOAD:1,PAYLOAD:2}}`,
		`{"jsonrpc":"1.0","id":PAYLOAD,"method":PAYLOAD}`,
		`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":PAYLOAD,"arguments":{}}}`,
	}
	for i, tool := range []string{
		`"list_workflows","arguments":{}`, `"inspect_workflow","arguments":{"workflowId":"test.hostile"}`,
		`"inspect_workflow","arguments":{"workflowId":PAYLOAD}`, `"start_workflow","arguments":{"workflowId":PAYLOAD}`,
		`"start_workflow","arguments":{"workflowId":"test.hostile","context":{"note":PAYLOAD}}`,
		`"start_workflow","arguments":{PAYLOAD:PAYLOAD}`, `"resume_session","arguments":{"query":PAYLOAD}`,
		`"continue_workflow","arguments":{"stateToken":STATE,"ackToken":ACK,"output":{"notesMarkdown":PAYLOAD}}`,
		`"continue_workflow","arguments":{"stateToken":STATE}`,
		`"continue_workflow","arguments":{"stateToken":PAYLOAD,"ackToken":PAYLOAD}`,
	} {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":%s}}`, i, tool))
	}
	input := strings.NewReplacer("PAYLOAD", quoted(hostile), "STATE", quoted(start.StateToken), "ACK",
		quoted(start.AckToken)).Replace(strings.Join(calls, "\n") + "\n")
	cmd := p.command("mcp")
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for line := range bytes.Lines(out) {
		doc := c.check("mcp", bytes.TrimSuffix(line, []byte{'\n'}))
		result, _ := doc["result"].(map[string]any)
		content, _ := result["content"].([]any)
		for _, part := range content {
			texts++
			inner := c.check("mcp text", []byte(text(part, "text")))
			if fmt.Sprint(inner) != fmt.Sprint(result["structuredContent"]) {
				t.Errorf("text and structured content differ: %v", part)
			}
		}
	}
	if n := bytes.Count(out, []byte{'\n'}); n != len(calls)-1 || texts < 9 || c.with < 12 {
		t.Errorf("%d calls, %d lines, %d texts, %d with what was given", len(calls), n, texts, c.with)
	}
}

// TestStoredBytesAreExactInPipe: the lines of events, a compiled workflow and a bundle keep their bytes where they are
// not shown.
func TestStoredBytesAreExactInPipe(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	if err := os.WriteFile(filepath.Join(p.dir, "flow.json"), []byte(hostileWorkflow(tame)), 0o600); err != nil {
		t.Fatal(err)
	}
	var started struct{ Session struct{ SessionID string } }
	p.json(&started, "start", "flow.json")
	if out, err := p.command("continue", "--run", "@last", "--notes", tame).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, err := p.command("runs", "events", "@last").Output()
	if err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(p.store, "sessions", started.Session.SessionID, "events", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var stored []byte
	for _, name := range segments {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, b...)
	}
	if !bytes.Equal(lines, stored) || !bytes.Contains(lines, []byte(tame)) {
		t.Error("the lines of events are not the stored ones")
	}
	bundle, err := p.command("export", "@last", "-o", "-").Output()
	if err != nil || !bytes.Contains(bundle, []byte(tame)) {
		t.Errorf("the bundle in a pipe is escaped: %v", err)
	}
	compiled, err := p.command("workflows", "compile", "flow.json").Output()
	if err != nil || !bytes.Contains(compiled, []byte(tame)) {
		t.Errorf("the compiled workflow in a pipe is escaped: %v", err)
	}
}
