//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attachedFlow is a workflow of an attached folder with 16 steps: a routine beside it, a loop, a
// condition, a contract and a declared input among them.
func attachedFlow() string {
	b := "id: wr.long-flow\nname: Long flow\ndescription: d\nversion: 1.0.0\nsteps:\n"
	for i := range 12 {
		b += fmt.Sprintf("  - {id: s%d, title: Step %d, prompt: \"Do number %d for {{customer}}.\"}\n", i, i, i)
	}
	return b + `  - {id: call, title: Call, templateCall: {templateId: wr.templates.routine.look}}
  - {id: sometimes, title: Sometimes, prompt: Do it., runCondition: {var: customer, equals: ACME}}
  - {id: last, title: Last, prompt: Do the last thing., notesRequired: true}
`
}

const attachedRoutine = "id: routine-look\nname: Look\ndescription: d\nversion: 1.0.0\n" +
	"steps: [{id: near, title: Near, prompt: Look near.}, {id: far, title: Far, prompt: Look far.}]\n"

// TestAgentCompletesAttachedWorkflow: over MCP, by its own id, without a change of a file.
func TestAgentCompletesAttachedWorkflow(t *testing.T) {
	p := programWithWorkflows(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	flows := filepath.Join(p.dir, "flows")
	if err := os.MkdirAll(filepath.Join(flows, "routines"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.writeFile("flows/long.yaml", attachedFlow())
	p.writeFile("flows/routines/look.yaml", attachedRoutine)
	p.atTerminal(0, "y", "workflows", "attach", flows, "--name", "team")

	c := p.agent()
	list := c.tool("list_workflows", "{}")
	if !strings.Contains(list.raw, `"source":"plugin:team"`) {
		t.Errorf("the list does not name the source:\n%s", list.raw)
	}
	if found := c.tool("inspect_workflow", `{"workflowId":"wr.long-flow"}`); found.isError ||
		!strings.Contains(found.raw, `"source":"plugin:team"`) {
		t.Errorf("inspect: %s", found.raw)
	}
	a := c.tool("start_workflow", `{"workflowId":"wr.long-flow","context":{"customer":"ACME"}}`)
	steps := 0
	for ; a.Data.Pending != nil; steps++ {
		if !strings.Contains(a.raw, `"source":"plugin:team"`) {
			t.Fatalf("an answer does not name the source: %s", a.raw)
		}
		if steps > 30 || a.isError {
			t.Fatalf("after %d steps: %s", steps, a.raw)
		}
		a = c.tool("continue_workflow", map[string]any{"stateToken": a.Data.StateToken, "ackToken": a.Data.AckToken,
			"output": map[string]any{"notesMarkdown": "Done."}})
	}
	if !a.Data.IsComplete || steps != 16 {
		t.Errorf("%d steps: %s", steps, a.raw)
	}
	c.ends()
	p.verified()
}

// TestPublishedFilesAreDriven starts each of the published files of an attached folder by its own id,
// with a context in each spelling, and performs it to its end, if the files are beside the repository.
func TestPublishedFilesAreDriven(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(publishedDir, "*.json"))
	if len(files) == 0 {
		t.Skip("no published workflows at ../shared/data beside the checkout")
	}
	folder, err := filepath.Abs(publishedDir)
	if err != nil {
		t.Fatal(err)
	}
	p := programWithWorkflows(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	p.atTerminal(0, "y", "workflows", "attach", folder)
	var list struct {
		Workflows []struct {
			WorkflowID, SourceRef, Source string
			Valid                         bool
			Problems                      []any
		} `json:"workflows"`
	}
	p.json(&list, "workflows", "list")
	found := 0
	for _, w := range list.Workflows {
		if w.Source != "plugin:workflows" {
			continue
		}
		if found++; !w.Valid {
			t.Errorf("%s: %v", w.SourceRef, w.Problems)
			continue
		}
		var answer struct {
			Workflow struct{ WorkflowID, Source string } `json:"workflow"`
		}
		p.json(&answer, "start", w.WorkflowID)
		if answer.Workflow.WorkflowID != w.WorkflowID || answer.Workflow.Source != w.Source {
			t.Errorf("%s: started %+v", w.SourceRef, answer.Workflow)
		}
	}
	if found != len(files) {
		t.Errorf("%d of %d files are in the list", found, len(files))
	}
	for _, file := range files {
		w := readPublished(t, file)
		id := textOf(w.root["id"])
		paths := map[string][]string{}
		for spelling, spell := range spellers {
			path, waits := drive(t, cliDoor{p.dir, p.store}, w, id, spell)
			if waits != "" {
				t.Logf("%s waits for an approval of %s", filepath.Base(file), waits)
			}
			paths[spelling] = path
		}
		samePaths(t, filepath.Base(file), paths)
	}
	p.verified()
}
