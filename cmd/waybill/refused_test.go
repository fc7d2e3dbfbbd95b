package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// refusingFlow has a step that accepts only notes with "done".
const refusingFlow = `
id: test.refusing
name: Refusing
description: d
version: 1.0.0
steps:
  - {id: first, title: First, prompt: Do it.}
  - id: hard
    title: Hard
    prompt: Do it.
    validationCriteria: [{type: contains, value: done, message: say done}]
`

// TestRepeatedRefusalsNameTheStore: the commands of the warning about repeated refusals select the
// store of the call at every door, since they are copied.
func TestRepeatedRefusalsNameTheStore(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t)
	p.writeFile("refusing.yaml", refusingFlow)
	var at struct {
		Session              struct{ RunID string } `json:"session"`
		StateToken, AckToken string
	}
	p.json(&at, "start", "refusing.yaml")
	run := at.Session.RunID
	p.json(&at, "continue", "--state", at.StateToken, "--ack", at.AckToken, "--notes", "on")
	for range 10 {
		p.runPiped(3, "continue", "--run", run, "--notes", "no")
	}
	check := func(door, text string) {
		t.Helper()
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"'waybill runs show " + run + " --store " + p.store + "'",
			"--at node_", "'waybill runs cancel " + run + " --store " + p.store + "'"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", door, want, text)
			}
		}
	}
	check("continue", p.runPiped(3, "continue", "--run", run, "--notes", "no"))
	check("continue --json", p.runPiped(3, "continue", "--run", run, "--notes", "no", "--json"))
	check("reading", p.runPiped(0, "continue", "--run", run))
	check("reading with --json", p.runPiped(0, "continue", "--state", at.StateToken, "--json"))
	check("run", p.runPiped(3, "run", "--run", run, "--notes", "no"))
	c := p.agent()
	args, err := json.Marshal(doc{"stateToken": at.StateToken})
	if err != nil {
		t.Fatal(err)
	}
	check("MCP", c.tool("continue_workflow", string(args)).raw)
	c.ends()
}
