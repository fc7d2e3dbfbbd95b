package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// The workflow files that are driven: Waybill's own in the published format, and published ones where
// they are beside the project.
const (
	collectionDir = "../../testdata/workflows/collection"
	publishedDir  = "../../../shared/data/workrail/workflows"
)

// driven is what a driver reads of an answer.
type driven struct {
	Kind string
	Data struct {
		StateToken, AckToken, Status string
		IsComplete                   bool
		Pending                      *struct {
			StepID, StepInstanceKey, Title, Prompt string
			OutputContract                         *struct {
				ContractRef string
				Required    bool
				Example     json.RawMessage
			}
		}
		Blockers []struct{ Code, Message string }
	}
	Error struct{ Code, Message string }
}

// submission is what a performer sends for a step.
type submission struct {
	notes     string
	artifacts []any
	context   doc
}

// door is a way into the program: the command line, or the MCP server.
type door interface {
	start(t *testing.T, workflow string, context doc) driven
	submit(t *testing.T, at driven, s submission) driven
}

// cliDoor calls the program in this process.
type cliDoor struct{ dir, store string }

func (d cliDoor) start(t *testing.T, workflow string, context doc) driven {
	return d.call(t, "start", workflow, "--context", d.file(t, "context.json", context))
}

func (d cliDoor) submit(t *testing.T, at driven, s submission) driven {
	args := []string{"continue", "--state", at.Data.StateToken, "--ack", at.Data.AckToken, "--notes", s.notes,
		"--context", d.file(t, "context.json", s.context)}
	for i, a := range s.artifacts {
		args = append(args, "--artifact", d.file(t, fmt.Sprintf("artifact-%d.json", i), a))
	}
	return d.call(t, args...)
}

func (d cliDoor) file(t *testing.T, name string, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.dir, name), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(d.dir, name)
}

func (d cliDoor) call(t *testing.T, args ...string) (out driven) {
	t.Helper()
	var printed, complaints bytes.Buffer
	env := append(os.Environ(), "WAYBILL_HOME="+filepath.Join(d.dir, "home"))
	run(append(args, "--json", "--store", d.store), strings.NewReader(""), &printed, &complaints, env)
	if err := json.Unmarshal(printed.Bytes(), &out); err != nil || out.Error.Code != "" {
		t.Fatalf("%v: %v\n%s%s", args[:2], err, printed.Bytes(), complaints.Bytes())
	}
	return out
}

// mcpDoor calls the tools of a server.
type mcpDoor struct{ agent *agent }

func (d mcpDoor) start(t *testing.T, workflow string, context doc) driven {
	return d.tool(t, "start_workflow", doc{"workflowId": workflow, "context": context})
}

func (d mcpDoor) submit(t *testing.T, at driven, s submission) driven {
	output := doc{"notesMarkdown": s.notes}
	if len(s.artifacts) > 0 {
		output["artifacts"] = s.artifacts
	}
	return d.tool(t, "continue_workflow", doc{"stateToken": at.Data.StateToken, "ackToken": at.Data.AckToken,
		"output": output, "context": s.context})
}

func (d mcpDoor) tool(t *testing.T, name string, args doc) (out driven) {
	t.Helper()
	r := d.agent.tool(name, args)
	if err := json.Unmarshal([]byte(r.raw), &out); err != nil || out.Error.Code != "" {
		t.Fatalf("%s: %v\n%s", name, err, r.raw)
	}
	return out
}

// drive performs a workflow until it is complete, or until a step waits for an approval. It hands in notes,
// the example of each contract, the levels of assessments and the context, and returns the keys of
// the steps that were shown and the step that waits, "" if the run is complete.
func drive(t *testing.T, d door, p *published, workflow string, spell speller) (path []string, waits string) {
	t.Helper()
	context := p.context(spell)
	at := d.start(t, workflow, context)
	for range 200 {
		if at.Data.IsComplete {
			if at.Data.Status != "complete" {
				t.Fatalf("%s ends as %s", workflow, at.Data.Status)
			}
			return path, ""
		}
		pending := at.Data.Pending
		path = append(path, pending.StepInstanceKey)
		p.shown[pending.StepInstanceKey] = at
		next := d.submit(t, at, p.answer(t, at, context))
		if len(next.Data.Blockers) == 0 {
			at = next
			continue
		}
		if gate, _ := p.steps[pending.StepID]["requireConfirmation"].(doc); gate["kind"] == "human_approval" {
			return path, pending.StepID
		}
		t.Fatalf("%s: step %s is refused: %+v", workflow, pending.StepInstanceKey, next.Data.Blockers)
	}
	t.Fatalf("%s does not end: %q", workflow, path)
	return nil, ""
}

// answer is what is sent for the pending step. A loop that an artifact decides goes round twice.
func (p *published) answer(t *testing.T, at driven, context doc) submission {
	t.Helper()
	pending := at.Data.Pending
	step := p.steps[pending.StepID]
	s := submission{notes: p.notes(step), artifacts: p.assessments(step), context: maps.Clone(context)}
	loops, _, err := snapshot.ParseKey(pending.StepInstanceKey)
	if err != nil {
		t.Fatal(err)
	}
	if len(loops) > 0 {
		maps.Copy(s.context, p.loopContext(pending.StepID, loops[len(loops)-1].Iteration))
	}
	for _, in := range list(step["inputs"]) {
		choices, _ := in["choices"].([]any)
		s.context[textOf(in["contextKey"])] = choices[0]
	}
	if c := pending.OutputContract; c != nil {
		var example doc
		if err := json.Unmarshal(c.Example, &example); err != nil {
			t.Fatalf("the example of %s: %s", c.ContractRef, c.Example)
		}
		if example["kind"] == "wr.loop_control" && len(loops) > 0 && loops[len(loops)-1].Iteration == 0 {
			example["decision"] = "continue"
		}
		s.artifacts = append(s.artifacts, example)
	}
	return s
}

// place makes a working directory with workflow files of the project in it, under their names, and
// returns it with a store's directory.
func place(t *testing.T, files ...string) (dir, store string) {
	t.Helper()
	dir = t.TempDir()
	folder := filepath.Join(dir, ".waybill", "workflows")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(file)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "store")
}

// collection lists Waybill's own files in the published format, its routines last.
func collection(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(collectionDir, "*.json"))
	routines, _ := filepath.Glob(filepath.Join(collectionDir, "routines", "*.json"))
	if len(files) < 3 || len(routines) == 0 {
		t.Fatalf("the collection has the files %q and %q", files, routines)
	}
	return append(files, routines...)
}

// TestCollectionIsDriven performs each file of the collection by the command line, with a context in
// each spelling. Equal contexts lead through the same steps.
func TestCollectionIsDriven(t *testing.T) {
	all := collection(t)
	dir, store := place(t, all...)
	t.Chdir(dir)
	cases := sample.OneIn(t, 2)
	ends := map[string]string{}
	for _, file := range all {
		p := readPublished(t, filepath.Join(dir, ".waybill", "workflows", filepath.Base(file)))
		name := filepath.Base(file)
		paths := map[string][]string{}
		for _, spelling := range slices.Sorted(maps.Keys(spellers)) {
			if spelling != "exact" && !cases.Try() {
				continue
			}
			path, waits := drive(t, cliDoor{dir, store}, p, p.file, spellers[spelling])
			paths[spelling], ends[name] = path, waits
		}
		samePaths(t, name, paths)
		for id := range p.steps {
			shown := slices.ContainsFunc(paths["exact"], func(key string) bool {
				return key == id || strings.HasSuffix(key, "::"+id) || strings.Contains(key, id+"@1")
			})
			// The steps that exclude each other, those after an approval, and those that others replace.
			if except := []string{"phase-2-quick", "phase-4a-look", "tell"}; shown == slices.Contains(except, id) {
				t.Errorf("%s: step %s was shown: %v, by\n%q", name, id, shown, paths["exact"])
			}
		}
	}
	want := map[string]string{"approval.json": "cut"}
	for name, waits := range ends {
		if waits != want[name] {
			t.Errorf("%s waits at %q, want %q", name, waits, want[name])
		}
	}
}

// TestScriptedAgentCompletesAWorkflow performs a workflow of more than fifteen steps by the MCP
// server, from the file as it is.
func TestScriptedAgentCompletesAWorkflow(t *testing.T) {
	t.Parallel()
	dir, store := place(t, collection(t)...)
	p := readPublished(t, filepath.Join(dir, ".waybill", "workflows", "survey.json"))
	path, waits := drive(t, mcpDoor{program{t: t, dir: dir, store: store}.agent()}, p, "survey.orchard", spellers["exact"])
	if len(path) < 15 || waits != "" {
		t.Errorf("%d steps, waits at %q: %q", len(path), waits, path)
	}
	p.checkTexts(t)
	var listed struct {
		Steps []struct{ StepInstanceKey, Title string }
	}
	program{t: t, dir: dir, store: store}.json(&listed, "runs", "show", "@last")
	if !slices.ContainsFunc(listed.Steps, func(s struct{ StepInstanceKey, Title string }) bool {
		return s.StepInstanceKey == "phase-3-each-tree@1::phase-3a-look" && s.Title == "Look at Ash (1 branches)"
	}) {
		t.Errorf("the steps of the run are listed as %+v", listed.Steps)
	}
}

// checkTexts checks what the agent was shown: titles and prompts with the lengths of lists, the
// required output in the author's order, the text of a reference, and what the metrics profile asks
// for.
func (p *published) checkTexts(t *testing.T) {
	t.Helper()
	for key, want := range map[string]string{
		"phase-1-frame":                       "Phase 1: What the 2 trees need",
		"phase-3-each-tree@0::phase-3a-look":  "Look at Elm (2 branches)",
		"phase-3-each-tree@1::phase-3a-look":  "Look at Ash (1 branches)",
		"phase-4-review@0::phase-4c-decide":   "Whether to look again",
		"phase-14-end":                        "Phase 14: End, after 2 trees",
		"phase-4-review@0::phase-4b-parallel": "Three looks at once",
	} {
		if got := p.shown[key].Data.Pending; got == nil || got.Title != want {
			t.Errorf("%s: got the title %+v, want %q", key, got, want)
		}
	}
	for key, want := range map[string][]string{
		"phase-1-frame": {"Before you look at 2 trees: If you have a memory tool", "- notesMarkdown: ", "- context: ",
			"- artifact: ", "## Metrics", "Take photographs of the 2 trees.", "treePacket(tree)"},
		"phase-3-each-tree@1::phase-3a-look": {"number 1 of 2: {{treeIndex + 1}}."},
		"phase-6-signal":                     {"metrics_commit_shas", "wr.contracts.coordinator_signal", `"data_needed"`},
		"phase-7-direction":                  {"metrics_commit_shas", "selectionTier (optional)"},
		"phase-14-end":                       {"metrics_commit_shas", "metrics_outcome", "metrics_lines_removed"},
	} {
		rest := p.shown[key].Data.Pending.Prompt
		for _, part := range want {
			at := strings.Index(rest, part)
			if at < 0 {
				t.Errorf("%s: the prompt lacks %q, or has it in another order:\n%s", key, part,
					p.shown[key].Data.Pending.Prompt)
				break
			}
			rest = rest[at+len(part):]
		}
	}
	if strings.Contains(p.shown["phase-7-direction"].Data.Pending.Prompt, "metrics_outcome") {
		t.Error("a step that is not the last asks for the outcome")
	}
}

// samePaths checks that a workflow leads through the same steps in each spelling of its context.
func samePaths(t *testing.T, name string, paths map[string][]string) {
	t.Helper()
	for spelling, path := range paths {
		if !slices.Equal(path, paths["exact"]) {
			t.Errorf("%s, spelled %s, leads through\n%q, not through\n%q", name, spelling, path, paths["exact"])
		}
	}
}
