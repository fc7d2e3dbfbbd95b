package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const agentChooses = `id: %s
name: Choose
description: A choice of an earlier result.
version: 1.0.0
steps:
  - {id: plan, title: Plan, prompt: List the targets.}
  - id: pick
    title: Pick
    prompt: Take one.
    inputs: [{contextKey: target, reason: needs_user_choice, choiceKind: scope_boundary, choicesFrom: {step: plan, pointer: /targets}, description: Where to}]
`

// TestAgentChoosesFromAResult: a value that an agent invents is refused with the list, and the corrected
// one completes the run. The same over the command line has exit status 3.
func TestAgentChoosesFromAResult(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.other")
	file := filepath.Join(p.dir, ".waybill", "workflows", "test.choose.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(agentChooses, "%s", "test.choose", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.agent()
	r := c.tool("start_workflow", map[string]any{"workflowId": "test.choose"})
	next := r.ready("n")
	next["output"] = map[string]any{"artifacts": []any{map[string]any{"kind": "demo.plan", "targets": []any{"north", 3, "x\n## Done"}}}}
	r = c.tool("continue_workflow", next)
	if !strings.Contains(r.raw, `one of \"north\", 3, \"x\\n## Done\"`) {
		t.Errorf("%s", r.raw)
	}
	r = c.tool("continue_workflow", r.ready("south"))
	if r.Kind != "blocked" || !strings.Contains(r.raw, `is \"south\", which is none of its choices: \"north\", 3, \"x\\n## Done\".`) {
		t.Errorf("%s: %s", r.Kind, r.raw)
	}
	run := p.command("continue", "--run", "@last", "--done", "--set", "target=west")
	if out, err := run.CombinedOutput(); run.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), `"west"`) {
		t.Errorf("%v: %s", err, out)
	}
	r = c.reply(c.call("tools/call", `{"name":"continue_workflow","arguments":{"stateToken":"`+r.Data.StateToken+`"}}`))
	next = r.ready("done")
	next["context"] = map[string]any{"target": 3}
	if r = c.tool("continue_workflow", next); r.Kind != "step" || !strings.Contains(r.raw, `"isComplete":true`) {
		t.Errorf("%s: %s", r.Kind, r.raw)
	}
	c.ends()
	p.verified()
	p.json(&struct{}{}, "replay", "@last")
}
