//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// timings are the records of durations on stderr, by the name of the call.
func timings(t *testing.T, stderr string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for line := range strings.Lines(stderr) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if record["message"] == "timing" {
			out[fmt.Sprint(record["call"])] = record
		}
	}
	return out
}

// TestDurationsOfCalls: at level debug each call of the command line, of an agent and of a program leaves one record with
// its phases, which contains nothing that the caller sent; at other levels none.
func TestDurationsOfCalls(t *testing.T) {
	s := serveAt(t, fmt.Sprintf(waitingFlows, "timed",
		`{"id":"a","title":"A","prompt":"p"},{"id":"b","title":"B","prompt":"p"}`), "--log-level", "debug", "--log-format", "json")
	const secretive = "Whispered words"
	debug := func(args ...string) *exec.Cmd {
		return s.command(append(args, "--log-level", "debug", "--log-format", "json")...)
	}
	has := func(records map[string]map[string]any, call string, phases ...string) {
		t.Helper()
		record := records[call]
		for _, phase := range []string{"compile", "read", "decide", "append", "sync"} {
			count, _ := record[phase+"Count"].(float64)
			us, measured := record[phase+"Us"].(float64)
			if measured != slices.Contains(phases, phase) || measured && (us < 0 || count < 1) {
				t.Errorf("%s: %s in %v", call, phase, records)
			}
		}
		if id, ok := record["trace"].(string); !ok || len(id) != 16 || record["totalUs"].(float64) <= 0 {
			t.Errorf("%s: %v", call, record)
		}
	}

	var stderr bytes.Buffer
	run := func(args ...string) map[string]map[string]any {
		t.Helper()
		stderr.Reset()
		cmd := debug(args...)
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil {
			t.Fatalf("%q: %v\n%s%s", args, err, out, &stderr)
		}
		if strings.Contains(stderr.String(), secretive) {
			t.Errorf("%q: %s", args, &stderr)
		}
		return timings(t, stderr.String())
	}
	started := run("start", "test.timed", "--title", secretive)
	has(started, "waybill start", "compile", "read", "decide", "append", "sync")
	// Files, directories and the group of one append.
	if record := started["waybill start"]; record["appendCount"] != 1.0 || record["syncCount"] != 3.0 {
		t.Errorf("%v", record)
	}
	has(run("continue", "--run", "@last", "--notes", secretive), "waybill continue", "read", "decide", "append", "sync")
	has(run("runs", "show", "@last"), "waybill runs show", "read")
	if out := s.runPiped(0, "continue", "--run", "@last", "--notes", "n"); strings.Contains(out, "timing") {
		t.Error(out)
	}

	log := filepath.Join(s.dir, "log")
	cmd := exec.Command("sh", "-c", `exec waybill mcp --store "$1" --log-level debug --log-format json 2>"$2"`, "sh", s.store, log)
	cmd.Dir = s.dir
	c := agentOf(t, cmd)
	one := c.tool("start_workflow", map[string]any{"workflowId": "test.timed", "goal": secretive})
	c.tool("continue_workflow", one.ready(secretive))
	c.ends()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	records := timings(t, string(text))
	has(records, "start_workflow", "compile", "read", "decide", "append", "sync")
	if strings.Contains(string(text), secretive) || records["continue_workflow"]["appendUs"] == nil {
		t.Errorf("%s", text)
	}

	scenario{t, s, s.key}.create("test.timed", object{"word": secretive})
	served := s.cmd.Stderr.(*bytes.Buffer)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // its output is complete then
	records = timings(t, served.String()[:strings.LastIndex(served.String(), "\n")+1])
	if record := records["POST /v1/runs"]; record["appendUs"] == nil || strings.Contains(served.String(), secretive) {
		t.Errorf("%v\n%s", records, served)
	}
}
