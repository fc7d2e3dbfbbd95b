package trial_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/infra/memstore"
)

// parsed returns the cases of a text.
func parsed(t *testing.T, w compile.Compiled, text string) workflowtest.File {
	t.Helper()
	f, found := workflowtest.Parse("w.test.yaml", []byte(text), w)
	if len(found) > 0 {
		t.Fatalf("%+v\n%s", found, text)
	}
	return f
}

// inMemory is a trial of a workflow.
func inMemory(w compile.Compiled) trial.Trial {
	return trial.Trial{Workflow: w, Store: func() engine.Store { return memstore.NewDisk(id.Seed{1}).Open(time.Second) }}
}

// rounds is a workflow whose commands have the variables of a loop.
const rounds = `
id: test.rounds
name: Rounds
description: d
version: 1.0.0
steps:
  - id: each
    type: loop
    title: Each
    loop: {type: forEach, items: files, itemVar: file, maxIterations: 5}
    body:
      - {id: check, title: "Check {{file}}", prompt: "Check {{file}}.", action: {kind: command, argv: [check, "--", "{{file}}"]}}
      - {id: note, title: Note, prompt: "Note {{file}}"}
`

// recordings are cases whose runs are recorded: of the workflows of the other tests.
var recordings = map[string][]string{
	everything: {all,
		"cases: [{name: a, answers: {build: [{exit: 1}]}, context: {version: '1'}, expect: {status: blocked}}]",
		"cases: [{name: a, answers: {build: [{stdout: x, output: {size: 40}}, {stdout: x}], look: [{notes: n}], night: [{}], approve: " +
			"[{notes: d, deny: never}]}, context: {version: '1'}, expect: {status: failed}}]",
		"cases: [{name: a, answers: {build: [{stdout: x}, {context: {size: 3}}]}, context: {version: '1'}, expect: {status: blocked}}]",
	},
	rounds: {"cases: [{name: a, context: {files: [a.go, b.go]}, answers: {check: [{}, {exit: 1}, {}], note: [{}, {}]}, expect: {status: complete}}]"},
	small: {
		"cases: [{name: a, answers: {a: [{notes: n, artifacts: [{kind: k, list: [1, 2]}, text]}], ask: [{notes: q, sendBack: more}, " +
			"{notes: r, sendBack: \"and\\nmore\"}, {notes: s, approve: true}]}, expect: {status: complete}}]",
		"cases: [{name: a, answers: {a: [{notes: \"two\\nlines\", context: {go: true}}], b: [{}], ask: [{}]}, expect: {status: blocked}}]",
		"cases: [{name: a, preferences: {autonomy: full_auto_never_stop}, answers: {a: [{}], ask: [{}]}, expect: {status: complete_with_gaps}}]",
	},
}

// TestRecordedRunsAreCases: the test that is written of a run holds, and expects what the run recorded.
func TestRecordedRunsAreCases(t *testing.T) {
	for text, cases := range recordings {
		w := compiled(t, text)
		for _, c := range cases {
			f := parsed(t, w, c)
			before, err := inMemory(w).Run(t.Context(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := trial.RecordCase(t.Context(), inMemory(w), f.Cases[0])
			if err != nil {
				t.Fatal(err)
			}
			written := string(workflowtest.File{Cases: []workflowtest.Case{r.Case}}.Text("x"))
			again := parsed(t, w, written)
			after, err := inMemory(w).Run(t.Context(), again, nil)
			if err != nil || after.Passed != 1 {
				t.Errorf("%v %+v\n%s", err, after, written)
				continue
			}
			b, a := before.Cases[0], after.Cases[0]
			if !slices.Equal(b.Path, a.Path) || b.Status != a.Status || a.Status != again.Cases[0].Expect.Status || len(r.Warnings) > 0 {
				t.Errorf("%s\nrecorded %v %s, again %v %s, %v\n%s", c, b.Path, b.Status, a.Path, a.Status, r.Warnings, written)
			}
		}
	}
}

// TestOutputsAreNoContext: what a command wrote is written as its output, and what the caller sent as context.
func TestOutputsAreNoContext(t *testing.T) {
	w := compiled(t, everything)
	f := parsed(t, w, "cases: [{name: a, answers: {build: [{stdout: waybill, output: {size: 4}, context: {own: 1}}]}, context: {version: '1'}, expect: {}}]")
	r, err := trial.RecordCase(t.Context(), inMemory(w), f.Cases[0])
	if err != nil {
		t.Fatal(err)
	}
	a := r.Case.Answers["build"][0]
	if got := string(a.Context.JCS()) + string(a.Output.JCS()) + a.Ran.Stdout; got != `{"own":1}{"size":4}waybill` {
		t.Error(got)
	}
}

// TestSecretsAreNotCopied: a test is stored beside a workflow, and often in a repository.
func TestSecretsAreNotCopied(t *testing.T) {
	w := compiled(t, small)
	f := parsed(t, w, "cases: [{name: a, answers: {a: [{notes: 'password=correct-horse-battery', context: {api: {password: hunter2hunter2}}}]}, expect: {}}]")
	r, err := trial.RecordCase(t.Context(), inMemory(w), f.Cases[0])
	text := string(workflowtest.File{Cases: []workflowtest.Case{r.Case}}.Text("x"))
	if err != nil || strings.Contains(text, "correct-horse") || strings.Contains(text, "hunter2") || !strings.Contains(text, "[REDACTED:") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestDraftsDoWhatTheRunDid: the workflow of a run is valid, and the test of the run holds of it.
func TestDraftsDoWhatTheRunDid(t *testing.T) {
	for text, cases := range recordings {
		w := compiled(t, text)
		for _, c := range cases {
			r, err := trial.RecordCase(t.Context(), inMemory(w), parsed(t, w, c).Cases[0])
			if err != nil {
				t.Fatal(err)
			}
			d := r.Draft("team.draft", "Draft")
			_, draft, found := compile.File("d.yaml", source.SourceProject, d.Workflow)
			if source.HasErrors(found) {
				t.Errorf("%v\n%s", found, d.Workflow)
				continue
			}
			written := string(d.Tests.Text("x"))
			if after, err := inMemory(draft).Run(t.Context(), parsed(t, draft, written), nil); err != nil || after.Passed != 1 {
				t.Errorf("%v %+v\n%s\n%s", err, after.Cases, d.Workflow, written)
			}
		}
	}
}

// TestValuesThatOccurTwiceBecomeInputs: in commands, prompts and the context of the start, once they are more than a
// chance; the first two words of a command are none.
func TestValuesThatOccurTwiceBecomeInputs(t *testing.T) {
	w := compiled(t, `
id: test.release
name: Release
description: d
version: 1.0.0
steps:
  - {id: tag, title: Tag, prompt: Tag 1.4.0., action: {kind: command, argv: [git, tag, v1.4.0, --target, abc123]}}
  - {id: push, title: Push, prompt: Push., action: {kind: command, argv: [git, push, origin-x, v1.4.0]}}
  - {id: fetch, title: Fetch, prompt: Fetch., action: {kind: command, argv: [git, push, origin-x, "11.4.0", --target, abc123]}}
  - {id: tell, title: Tell the team, prompt: Tell the team-leads.}
  - {id: script, title: Script, prompt: s, action: {kind: command, argv: [sh, -c, echo xyz789]}}
  - {id: echo, title: Echo, prompt: xyz789, action: {kind: command, argv: [echo, "1", xyz789]}}
`)
	r, err := trial.RecordCase(t.Context(), inMemory(w), parsed(t, w, "cases: [{name: a, context: {version: 1.4.0, who: the team}, answers: "+
		"{tag: [{}], push: [{}], fetch: [{}], tell: [{}], script: [{}], echo: [{}]}, expect: {}}]").Cases[0])
	if err != nil {
		t.Fatal(err)
	}
	d := r.Draft("team.draft", "Draft")
	for _, want := range []string{"Tag {{version}}.", `"v{{version}}"`, `"{{target}}"`, `"{{value}}"`, "contextKey: version", "contextKey: target", "11.4.0",
		`title: "Tell {{who}}"`, "echo xyz789", "prompt: xyz789", "Tell {{who}}-leads"} {
		if !strings.Contains(string(d.Workflow), want) {
			t.Errorf("%s is missing in\n%s", want, d.Workflow)
		}
	}
	for _, literal := range []string{"target\", abc123", "Tag 1.4.0", "{{push}}", "origin-x]"} {
		if strings.Contains(string(d.Workflow), literal) {
			t.Errorf("%s is in\n%s", literal, d.Workflow)
		}
	}
	text := string(d.Tests.Text("x"))
	if !strings.Contains(text, "target: abc123") || !strings.Contains(text, "value: origin-x") {
		t.Error(text)
	}
}
