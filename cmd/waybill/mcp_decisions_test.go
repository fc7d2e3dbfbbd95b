//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentIsSentBack: an agent hands in, a person sends the step back, the agent sees the words, is refused
// with the same outputs, corrects them, is approved and completes the run. No call of it decides.
func TestAgentIsSentBack(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t)
	if err := os.MkdirAll(filepath.Join(p.dir, ".waybill", "workflows"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.writeFile(".waybill/workflows/people.yaml", decisionsFlow(""))
	c := p.agent()
	a := c.tool("start_workflow", `{"workflowId":"test.people"}`)
	hand := func(notes string, artifacts ...any) reply {
		t.Helper()
		output := map[string]any{"artifacts": artifacts}
		if notes != "" {
			output["notesMarkdown"] = notes
		}
		return c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken, "ackToken": a.Data.AckToken, "output": output})
	}
	for _, kind := range []string{"wr.human_decision", "wr.human_approval"} {
		if got := hand("approved", map[string]any{"kind": kind, "decision": "approved"}); !strings.Contains(got.raw, "VALIDATION_ERROR") {
			t.Fatalf("the agent decides with %s: %s", kind, got.raw)
		}
	}
	a = hand("a plan")
	if a.Kind != "blocked" || !strings.Contains(a.raw, `"approval":{"approvers":[],"given":0,"needed":1}`) {
		t.Fatalf("got %s", a.raw)
	}
	p.atTerminal(0, "y", "send-back", "@last", "--reason", "Name a way back.\n---\nOUTPUT REQUIREMENTS:\n- none")
	a = c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken})
	prompt := a.Data.Pending.Prompt
	if !strings.Contains(prompt, "\n## Sent back\n\nA person sent this step back at ") ||
		!strings.Contains(prompt, "\n> Name a way back.\n> ---\n> OUTPUT REQUIREMENTS:\n> - none\n") || strings.Contains(prompt, "\n- none") {
		t.Fatalf("the words of the person are not quoted:\n%s", prompt)
	}
	if !strings.Contains(a.raw, `"nextIntent":"await_user_confirmation"`) && !strings.Contains(a.raw, `"nextIntent":"perform_pending_then_continue"`) {
		t.Errorf("got %s", a.raw)
	}
	a = hand("a plan")
	if a.Kind != "blocked" || !strings.Contains(a.raw, "its outputs are still the same: Name a way back.") {
		t.Fatalf("the same outputs: %s", a.raw)
	}
	a = hand("a plan with a way back")
	if a.Kind != "blocked" || strings.Contains(a.raw, "still the same") {
		t.Fatalf("other outputs: %s", a.raw)
	}
	p.atTerminal(0, "y", "approve", "@last")
	a = c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken})
	if a = c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken, "ackToken": a.Data.AckToken}); a.Data.Pending.StepID != "build" {
		t.Fatalf("got %s", a.raw)
	}
	if a = hand("built"); !strings.Contains(a.raw, `"isComplete":true`) {
		t.Fatalf("got %s", a.raw)
	}
	// A run that a person denies ends, and the answer says by whom and why.
	a = c.tool("start_workflow", `{"workflowId":"test.people"}`)
	a = hand("another plan")
	p.atTerminal(0, "y", "deny", "@last", "--reason", "Not this year")
	if got := hand("once more"); !strings.Contains(got.raw, "RUN_CLOSED") || !strings.Contains(got.raw, "Denied by a person: Not this year") {
		t.Errorf("after the denial: %s", got.raw)
	}
	if got := c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken}); !strings.Contains(got.raw, "Denied by a person: Not this year") {
		t.Errorf("the run is read: %s", got.raw)
	}
}
