//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestAgentAutonomyIsCapped: an agent takes from the default of the store at most what it may set, and
// sets no more in a later attempt, also at an earlier node; a person's start has the whole default.
func TestAgentAutonomyIsCapped(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	configure(t, p.dir, "autonomy", "full_auto_never_stop", "--store", p.store)
	c := p.agent()
	started := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	for _, want := range []string{`"autonomy":"full_auto_stop_on_user_deps"`, `"preferenceSources":{"autonomy":"store"`} {
		if !strings.Contains(started.raw, want) {
			t.Errorf("no %s in %s", want, started.raw)
		}
	}
	before := p.runPiped(0, "runs", "events", "@last")
	raise := started.ready("Done.")
	raise["preferences"] = map[string]any{"autonomy": "full_auto_never_stop"}
	if r := c.tool("continue_workflow", raise); r.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("got %s", r.raw)
	}
	if after := p.runPiped(0, "runs", "events", "@last"); after != before {
		t.Error("a refused attempt was recorded")
	}
	if r := c.tool("continue_workflow", started.ready("Done.")); r.Kind != "step" {
		t.Fatalf("got %s", r.raw)
	}
	again := c.tool("continue_workflow", map[string]any{"stateToken": started.Data.StateToken})
	raise = again.ready("Done again.")
	raise["preferences"] = map[string]any{"autonomy": "full_auto_never_stop"}
	if r := c.tool("continue_workflow", raise); r.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("at an earlier node: got %s", r.raw)
	}
	if whole := p.runPiped(0, "start", "test.talk", "--json"); !strings.Contains(whole, `"autonomy":"full_auto_never_stop"`) {
		t.Errorf("a start of the command line: %s", whole)
	}
	// A lower limit holds from the next start on.
	configure(t, p.dir, "agentMaxAutonomy", "guided", "--store", p.store)
	if r := c.tool("start_workflow", `{"workflowId":"test.talk"}`); !strings.Contains(r.raw, `"autonomy":"guided"`) {
		t.Errorf("got %s", r.raw)
	}
	c.ends()
	p.verified()
}

// TestAgentContinuesBesideBranch: an agent works at its step while another caller goes back and opens a
// branch. What each does is recorded on its own branch, and neither is shown the notes of the other.
func TestAgentContinuesBesideBranch(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	c := p.agent()
	started := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	two := c.tool("continue_workflow", started.ready("notes of the agent"))
	if two.Kind != "step" || two.Data.Pending.StepID != "two" {
		t.Fatalf("got %s", two.raw)
	}
	back := p.runPiped(0, "continue", "--run", "@last", "--at", "one", "--notes", "notes of the branch", "--json")
	if !strings.Contains(back, `"stepId":"two"`) {
		t.Fatal(back)
	}
	look := c.tool("continue_workflow", map[string]any{"stateToken": two.Data.StateToken})
	if !strings.Contains(look.raw, "notes of the agent") || strings.Contains(look.raw, "notes of the branch") {
		t.Errorf("the agent's step is shown with other notes: %s", look.raw)
	}
	if tip := p.runPiped(0, "continue", "--run", "@last", "--json"); !strings.Contains(tip, "notes of the branch") ||
		strings.Contains(tip, "notes of the agent") {
		t.Errorf("the branch is shown with other notes: %s", tip)
	}
	three := c.tool("continue_workflow", two.ready("ACME"))
	if three.Kind != "step" || three.Data.Pending.StepID != "three" {
		t.Fatalf("got %s", three.raw)
	}
	if again := c.tool("continue_workflow", two.ready("ACME")); again.raw != three.raw {
		t.Errorf("a repeated call gives\n%s\nand gave\n%s", again.raw, three.raw)
	}
	// The branch whose path was touched last is preferred.
	if tip := p.runPiped(0, "continue", "--run", "@last", "--json"); !strings.Contains(tip, `"stepId":"three"`) {
		t.Error(tip)
	}
	graph := p.runPiped(0, "runs", "graph", "@last", "--json")
	if strings.Count(graph, `"cause":"non_tip_advance"`) != 1 {
		t.Error(graph)
	}
	c.ends()
	p.verified()
}
