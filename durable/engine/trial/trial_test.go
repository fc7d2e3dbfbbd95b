package trial_test

import (
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

// everything is a workflow with each construct that a case can answer.
const everything = `
id: test.everything
name: Everything
description: d
version: 1.0.0
inputs:
  - {contextKey: version, reason: needs_user_choice, choiceKind: scope_boundary, description: Which version}
steps:
  - id: build
    title: Build {{version}}
    prompt: Build it.
    action: {kind: command, argv: [make, "VERSION={{version}}"]}
    outputs: {size: "json:/size", name: stdout}
  - id: look
    title: Look
    prompt: Say what you see in {{name}}.
    notesRequired: true
    requireConfirmation: true
  - id: small
    title: Small
    prompt: It is small.
    runCondition: {var: size, lt: 10}
  - id: fix-loop
    type: loop
    title: Fix
    loop: {type: while, condition: {var: broken, equals: true}, maxIterations: 2}
    body:
      - id: fix
        title: Fix
        prompt: Fix it.
        checks:
          - {id: tests, argv: [go, test], expect: {tests: {min: 2}}}
          - {id: quality, argv: [lint], expect: {stdout: {pointer: /score, gte: 7}}}
  - id: night
    title: Night
    action: {kind: wait, for: 8h}
  - id: approve
    title: Approve
    prompt: Say what was done.
    notesRequired: true
    requireConfirmation: {kind: human_approval, approvers: [lead], count: 2, notPerformer: true}
`

// all is a case that goes through everything.
const all = `
cases:
  - name: all
    context: {version: "1.2"}
    answers:
      build: [{exit: 2, stderr: no}, {stdout: "waybill\n", output: {size: 4, other: 1}}]
      look: [{}, {notes: Seen, confirm: true, context: {broken: true}}]
      small: [{}]
      fix:
        - {checks: {tests: fail, quality: pass}}
        - {checks: {quality: {stdout: '{"score": 3}'}}}
        - {checks: {tests: {stdout: "TAP version 13\n1..2\nok 1\nok 2\n"}}, context: {broken: true}}
        - {context: {broken: false}}
      night: [{}]
      approve:
        - {notes: Done, sendBack: Say more}
        - {notes: Done and more, approve: true}
    expect:
      path: [build, look, small, fix, fix, night, approve]
      status: complete
      blockers: [INVALID_REQUIRED_OUTPUT, {step: look, code: MISSING_REQUIRED_OUTPUT, message: requires notes}, 'Check "tests"']
      prompts: {look: Say what you see in waybill., build: [Build 1.2, Build it.]}
      context: {size: 4, name: waybill, broken: false, absent: null}
      warnings: [OUTPUT_UNDECLARED]
`

func compiled(t testing.TB, text string) compile.Compiled {
	t.Helper()
	_, w, found := compile.File("w.yaml", source.SourceProject, []byte(text))
	if source.HasErrors(found) {
		t.Fatal(found)
	}
	return w
}

// run performs cases.
func run(t testing.TB, w compile.Compiled, cases string, reached *trial.Coverage) trial.Report {
	t.Helper()
	f, found := workflowtest.Parse("w.test.yaml", []byte(cases), w)
	if len(found) > 0 {
		t.Fatalf("%+v", found)
	}
	r, err := trial.Trial{Workflow: w, Store: func() engine.Store { return memstore.NewDisk(id.Seed{1}).Open(time.Second) }}.
		Run(t.Context(), f, reached)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryConstructIsAnswered(t *testing.T) {
	w := compiled(t, everything)
	reached := trial.NewCoverage(w)
	r := run(t, w, all, reached)
	if r.Passed != 1 || r.Failed != 0 {
		t.Errorf("%+v", r)
	}
	c := reached.Report()
	if c.Steps.Reached != c.Steps.Of || c.Steps.Of != 6 {
		t.Errorf("%+v", c)
	}
	var missed []string
	for _, b := range c.MissedBranches {
		missed = append(missed, b.Text())
	}
	for _, o := range c.MissedBlockers {
		missed = append(missed, o.Text())
	}
	want := `step "small" is passed over
loop "fix-loop" ends without an iteration
loop "fix-loop" would continue after maxIterations
any step: context key version (USER_ONLY_DEPENDENCY)
build: context key name (INVALID_REQUIRED_OUTPUT)
build: context key size (INVALID_REQUIRED_OUTPUT)
approve: notes (MISSING_REQUIRED_OUTPUT)`
	if got := strings.Join(missed, "\n"); got != want {
		t.Errorf("missed:\n%s\nwant:\n%s", got, want)
	}
}
