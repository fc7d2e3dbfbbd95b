package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
)

// inspected has the members of the document "workflow" that these tests read.
type inspected struct {
	Data struct {
		Steps []struct{ Prompt, Type string }
		Loops []struct {
			LoopID string
			Body   []struct {
				StepID, Prompt  string
				PromptFragments []struct{ Text string }
			}
		}
		Truncated string
	}
}

// TestInspectWorkflowTruncatesPrompts: the tool returns truncated prompts and names the command
// with the complete ones; the command line returns complete prompts.
func TestInspectWorkflowTruncatesPrompts(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	long := strings.Repeat("Zürich ", 400)
	file := fmt.Sprintf(`{"id":"test.long","name":"Long","description":"d","version":"1.0.0","steps":[
		{"id":"short","title":"S","prompt":"Short."}, {"id":"long","title":"L","promptBlocks":{"goal":%[1]q}},
		{"id":"again","type":"loop","title":"A","loop":{"type":"for","count":2,"maxIterations":2},
			"body":[{"id":"turn","title":"T","prompt":"Turn.","promptFragments":[{"id":"more","text":%[1]q}]}]}]}`,
		long)
	if err := os.WriteFile(filepath.Join(p.dir, ".waybill", "workflows", "long.json"), []byte(file),
		0o600); err != nil {
		t.Fatal(err)
	}
	c := p.agent()
	raw := c.tool("inspect_workflow", `{"workflowId":"test.long"}`).raw
	var doc, whole inspected
	if err := json.Unmarshal([]byte(raw), &doc); err != nil {
		t.Fatal(err)
	}
	d := doc.Data
	if len(d.Steps) != 3 || d.Steps[0].Prompt != "Short." || d.Steps[2].Type != "loop" || len(d.Loops) != 1 ||
		d.Loops[0].LoopID != "again" || d.Loops[0].Body[0].StepID != "turn" {
		t.Fatalf("got %s", raw)
	}
	for _, text := range []string{d.Steps[1].Prompt, d.Loops[0].Body[0].PromptFragments[0].Text} {
		if len(text) > 1000 || len(text) < 995 || !strings.HasSuffix(text, limits.TruncationMarker) {
			t.Errorf("%d bytes: %q", len(text), text)
		}
	}
	if strings.Contains(raw, "promptBlocks") ||
		d.Truncated != "The prompts of 2 steps are truncated to 1000 bytes; "+
			"'waybill workflows compile test.long' prints them completely." {
		t.Errorf("got %s", raw)
	}
	if raw := c.tool("inspect_workflow", `{"workflowId":"test.talk"}`).raw; strings.Contains(raw, `"truncated"`) ||
		!strings.Contains(raw, `"loops":[]`) {
		t.Errorf("got %s", raw)
	}
	c.ends()
	text, err := p.command("workflows", "inspect", "test.long", "--json").Output()
	if err != nil || json.Unmarshal(text, &whole) != nil ||
		!strings.Contains(whole.Data.Steps[1].Prompt, strings.TrimSpace(long)) || whole.Data.Truncated != "" {
		t.Errorf("%v: %s", err, text)
	}
}

// TestListWorkflowsTruncatesProblems: a list contains few problems per workflow, errors first,
// and their total number.
func TestListWorkflowsTruncatesProblems(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	file := `{"id":"test.bad","name":"Bad","description":"d","version":"1.0.0","a":1,"b":1,"c":1,"e":1,"steps":[{"id":"s","title":"S","prompt":"p"}]}`
	if err := os.WriteFile(filepath.Join(p.dir, ".waybill", "workflows", "bad.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.agent()
	agents := c.tool("list_workflows", "{}").raw
	c.ends()
	if out, err := p.command("config", "set", "lockWaitMs", "2000").CombinedOutput(); err != nil { // creates the store
		t.Fatalf("%v: %s", err, out)
	}
	persons, err := p.command("workflows", "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{agents, string(persons)} {
		var doc struct {
			Data struct {
				Workflows []struct {
					WorkflowID   string
					Problems     []any
					ProblemCount int
				}
			}
		}
		if err := json.Unmarshal([]byte(raw), &doc); err != nil {
			t.Fatal(err)
		}
		counts := map[string]string{}
		for _, w := range doc.Data.Workflows {
			counts[w.WorkflowID] = fmt.Sprint(len(w.Problems), " of ", w.ProblemCount)
		}
		if counts["test.bad"] != "3 of 4" || counts["test.talk"] != "0 of 0" {
			t.Errorf("got %v", counts)
		}
	}
}
