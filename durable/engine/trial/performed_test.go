package trial_test

import "testing"

// hosted is a workflow with steps that a host or the clock performs.
const hosted = `
id: test.hosted
name: Hosted
description: d
version: 1.0.0
steps:
  - {id: copy, title: Copy, action: {kind: host, typeId: core.identity}}
  - {id: pause, title: Pause, action: {kind: wait, until: "{{at}}"}}
  - {id: later, title: Later, action: {kind: wait, until: "2030-01-01T00:00:00Z"}}
  - {id: fail, title: Fail, action: {kind: host, typeId: core.noop}, runCondition: {var: fails, equals: true}}
  - {id: again, title: Again, action: {kind: command, argv: [run, "{{what}}"]}}
`

// TestStepsThatNoPersonPerforms: host steps, waits until a value of the context, and commands whose values are missing.
func TestStepsThatNoPersonPerforms(t *testing.T) {
	w := compiled(t, hosted)
	r := run(t, w, `
cases:
  - name: the moment is a value
    context: {what: x}
    answers: {copy: [{}], pause: [{}, {context: {at: "2027-05-01T10:00:00Z"}}], later: [{}], again: [{stdout: "`+"\\u00e4"+`"}]}
    expect: {path: [copy, pause, later, again], status: complete, blockers: [waits until]}
  - name: a host step fails
    context: {at: "2027-05-01T10:00:00Z", fails: true}
    answers: {copy: [{output: {made: 1}}], pause: [{}], later: [{}], fail: [{exit: 1, stderr: no host}]}
    expect: {path: [copy, pause, later, fail], status: failed}
  - name: a command without its value is not performed
    context: {at: "2027-05-01T10:00:00Z"}
    answers: {copy: [{}], pause: [{}], later: [{}], again: [{}]}
    expect: {path: [copy, pause, later, again], status: in_progress}
  - name: a command that was ended
    context: {at: "2027-05-01T10:00:00Z", what: x}
    answers: {copy: [{}], pause: [{}], later: [{}], again: [{exit: -1}]}
    expect: {status: blocked, blockers: [{step: again, message: it was ended}]}
`, nil)
	for _, c := range r.Cases {
		if !c.OK {
			t.Errorf("%s: %+v", c.Name, c.Failures)
		}
	}
	bad := run(t, w, "cases: [{name: a, context: {at: '2027-05-01T10:00:00Z'}, answers: {copy: [{}], pause: [{}], later: [{}], again: [{}]}, expect: {status: complete}}]", nil)
	if len(bad.Cases[0].Failures) == 0 || bad.Cases[0].Failures[0].Message != `the command of step "again" is not performed: {{what}} in argv/1 of the command is not set` {
		t.Errorf("%+v", bad.Cases[0].Failures)
	}
}

// TestRunsThatCannotBegin have the blockers of their start, and no step.
func TestRunsThatCannotBegin(t *testing.T) {
	w := compiled(t, `
id: test.rounds
name: Rounds
description: d
version: 1.0.0
steps:
  - id: each
    type: loop
    title: Each
    loop: {type: forEach, items: files, maxIterations: 2}
    body:
      - {id: look, title: Look, prompt: p}
`)
	r := run(t, w, `
cases:
  - {name: no list, expect: {status: not_started, path: []}}
  - {name: too long, context: {files: [1, 2, 3]}, expect: {path: [], blockers: [{message: maxIterations}]}}
  - {name: fails, expect: {path: [look]}}
`, nil)
	if r.Passed != 2 || r.Cases[2].OK {
		t.Errorf("%+v", r)
	}
}
