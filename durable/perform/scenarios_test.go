package perform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/ports"
)

// steps is a workflow file around a list of steps.
func steps(lines string) string {
	return "id: test.w\nname: Release\ndescription: A test\nversion: 1.0.0\nsteps:\n" + lines
}

const (
	buildStep = "  - {id: build, title: Build, action: {kind: command, argv: [make, all]}}\n"
	retryStep = "  - {id: build, title: Build, action: {kind: command, argv: [make], retry: {maxAttempts: 3, " +
		"backoffSeconds: 2}}}\n"
	lookStep    = "  - {id: look, title: Look, prompt: Look at it.}\n"
	noteStep    = "  - {id: note, title: Note, prompt: Write it down., notesRequired: true}\n"
	goStep      = "  - {id: go, title: Go, prompt: Ready for it, requireConfirmation: true}\n"
	riskyStep   = "  - {id: risky, title: Risky, requireConfirmation: true, action: {kind: command, argv: [rm, x]}}\n"
	approveStep = "  - {id: ship, title: Ship, prompt: Ship it., requireConfirmation: {kind: human_approval}}\n"
	inputStep   = "  - id: deploy\n    title: Deploy\n    action: {kind: command, argv: [deploy]}\n    inputs:\n" +
		"      - {contextKey: target, reason: needs_user_choice, choiceKind: scope_boundary, choices: [a, b], " +
		"description: Where to}\n" +
		"      - {contextKey: count, reason: needs_user_artifact, description: How many}\n"
	askedStep = "  - id: asked\n    title: Asked\n    prompt: Say.\n    notesRequired: true\n    inputs:\n" +
		"      - {contextKey: who, reason: needs_user_artifact, description: Who}\n"
	reportStep = "  - {id: report, title: Report, notesRequired: true, action: {kind: command, argv: [report]}}\n"
)

func text(s string) *string { return &s }

var (
	bad  = ports.CommandOutcome{ExitStatus: 2, DurationMs: 7, OutputBytes: 4, OutputHead: "boom"}
	good = ports.CommandOutcome{DurationMs: 9}
)

type scenario struct {
	name     string
	source   string
	opts     perform.Options
	outcomes []ports.CommandOutcome
	answers  []string // nil: no person
	distrust bool

	code     fault.Code
	want     string // contained in message and suggestion
	attempts string
	script   string
}

var scenarios = []scenario{
	{name: "commands run to the end", source: steps(buildStep + strings.ReplaceAll(buildStep, "build", "again")),
		attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Build: ""
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[2/2] Build: ""
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "retries stay in one attempt", source: steps(retryStep), outcomes: []ports.CommandOutcome{bad, bad, good},
		attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			$ make (1 of 3)
			status 2, last false, again in 2000 ms
			pause 2000 ms
			$ make (2 of 3)
			status 2, last false, again in 2000 ms
			pause 2000 ms
			$ make (3 of 3)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "final failure is recorded and ends the call", source: steps(retryStep + lookStep),
		outcomes: []ports.CommandOutcome{bad, bad, bad},
		answers:  []string{}, code: fault.StepFailed,
		want: `step 1 of 2, "Build": its command exited with status 2 after 3 tries`, attempts: "blocked",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Build: ""
			$ make (1 of 3)
			status 2, last false, again in 2000 ms
			pause 2000 ms
			$ make (2 of 3)
			status 2, last false, again in 2000 ms
			pause 2000 ms
			$ make (3 of 3)
			status 2, last true, again in 0 ms
			blocked: INVALID_REQUIRED_OUTPUT build
			release`},
	{name: "commands without trust", source: steps(buildStep), distrust: true,
		code: fault.WorkflowUntrusted, want: "--trust",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			release`},
	{name: "trust for this call", source: steps(buildStep), distrust: true,
		opts:     perform.Options{Trust: hashOf(steps(buildStep))},
		attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "trust of another version for this call", source: steps(buildStep), distrust: true,
		opts: perform.Options{Trust: hashOf(steps(lookStep))}, code: fault.WorkflowUntrusted,
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			release`},
	{name: "trust given at the terminal, asked once",
		source: steps(buildStep + strings.ReplaceAll(buildStep, "build", "again")), distrust: true,
		answers: []string{"once"}, attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Build: ""
			trust? test.w "once"
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[2/2] Build: ""
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "trust kept", source: steps(buildStep), distrust: true, answers: []string{"always"}, attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			trust? test.w "always"
			remember trust
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "trust refused", source: steps(buildStep), distrust: true, answers: []string{"not"},
		code: fault.WorkflowUntrusted,
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			trust? test.w "not"
			release`},
	{name: "a person's notes", source: steps(lookStep + noteStep), answers: []string{"", "seen"},
		attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			notes? required=false draft="" ""
			ok
			[2/2] Note: "Write it down."
			notes? required=true draft="" "seen"
			ok
			release`},
	{name: "no person present", source: steps(buildStep + lookStep), code: fault.RunWaiting,
		want: `"Look" waits for a person`, attempts: "advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Build: ""
			$ make all (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[2/2] Look: "Look at it."
			release`},
	{name: "notes given beforehand answer every person step", source: steps(lookStep + noteStep),
		opts:     perform.Options{Notes: text("fine")},
		attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Look: "Look at it."
			ok
			[2/2] Note: "Write it down."
			ok
			release`},
	{name: "blocked, then corrected by the person", source: steps(noteStep), answers: []string{"  ", "better"},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Note: "Write it down."
			notes? required=true draft="" "  "
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			notes? required=true draft="  " "better"
			ok
			release`},
	{name: "notes given beforehand are sent once", source: steps(noteStep), opts: perform.Options{Notes: text("")},
		answers:  []string{"mine"},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Note: "Write it down."
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			notes? required=true draft="" "mine"
			ok
			release`},
	{name: "blocked without a person", source: steps(noteStep), opts: perform.Options{Notes: text("")},
		code: fault.RunBlocked,
		want: "requires notes", attempts: "blocked",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Note: "Write it down."
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			release`},
	{name: "confirmed", source: steps(riskyStep + goStep), answers: []string{"y", "y", ""},
		attempts: "advanced advanced",
		script: `hold
			run Release, 0 of 2 done
			[1/2] Risky: ""
			confirm? Run this command? "y"
			$ rm x (1 of 1)
			status 0, last true, again in 0 ms
			ok
			[2/2] Go: "Ready for it"
			confirm? Continue with this step? "y"
			notes? required=false draft="" ""
			ok
			release`},
	{name: "not confirmed", source: steps(riskyStep), answers: []string{"n"}, code: fault.RunWaiting,
		want: "was not confirmed",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Risky: ""
			confirm? Run this command? "n"
			release`},
	{name: "confirmation without a person", source: steps(riskyStep), code: fault.RunWaiting,
		want: "'waybill run --run R --yes'",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Risky: ""
			release`},
	{name: "--yes confirms a command", source: steps(riskyStep), opts: perform.Options{Yes: true}, attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Risky: ""
			$ rm x (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "--yes completes a confirmation step", source: steps(goStep), opts: perform.Options{Yes: true},
		attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Go: "Ready for it"
			ok
			release`},
	{name: "confirmation step without --yes", source: steps(goStep), code: fault.RunWaiting,
		want: "answer it from here with 'waybill run --run R --yes'",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Go: "Ready for it"
			release`},
	{name: "--yes does not replace notes", source: steps(lookStep), opts: perform.Options{Yes: true},
		code: fault.RunWaiting,
		want: "--notes TEXT",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Look: "Look at it."
			release`},
	{name: "inputs asked for", source: steps(inputStep), answers: []string{"b", "3"}, attempts: "advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Deploy: ""
			input? target "b"
			input? count "3"
			$ deploy (1 of 1)
			status 0, last true, again in 0 ms
			ok
			release`},
	{name: "inputs missing without a person", source: steps(inputStep),
		opts: perform.Options{Context: members("count", "1")},
		code: fault.RunWaiting, want: "Where to; one of a, b",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Deploy: ""
			release`},
	{name: "neither --yes nor --notes approves", source: steps(approveStep),
		opts: perform.Options{Yes: true, Notes: text("ok")},
		code: fault.RunWaiting, want: "waybill approve", attempts: "blocked",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Ship: "Ship it."
			release`},
	{name: "a command with notes runs once, however often the notes are refused", source: steps(reportStep),
		answers:  []string{" ", "noted"},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Report: "---"
			$ report (1 of 1)
			status 0, last true, again in 0 ms
			notes? required=true draft="" " "
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			notes? required=true draft=" " "noted"
			ok
			release`},
	{name: "a command with notes does not run without a person", source: steps(reportStep), code: fault.RunWaiting,
		want: "--notes",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Report: "---"
			release`},
	{name: "inputs of a refused attempt are not asked again", source: steps(askedStep),
		answers:  []string{"me", " ", "done"},
		attempts: "blocked advanced",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Asked: "Say."
			input? who "me"
			notes? required=true draft="" " "
			blocked: MISSING_REQUIRED_OUTPUT wr.notesMarkdown
			notes? required=true draft=" " "done"
			ok
			release`},
	{name: "the preamble is shown with the first step", answers: []string{"me", "x"}, attempts: "advanced",
		source: "preconditions: [A quiet day]\n" + steps(askedStep),
		script: `hold
			run Release, 0 of 1 done
			[1/1] Asked: "## Before you begin, this must be so"
			input? who "me"
			notes? required=true draft="" "x"
			ok
			release`},
	{name: "leaving the trust question refuses", source: steps(buildStep), distrust: true, answers: []string{"^D"},
		code: fault.WorkflowUntrusted,
		script: `hold
			run Release, 0 of 1 done
			[1/1] Build: ""
			trust? test.w "^D"
			release`},
	{name: "the person leaves", source: steps(lookStep), answers: []string{"^D"}, code: fault.RunWaiting,
		want: "Continue with 'waybill run --run R'",
		script: `hold
			run Release, 0 of 1 done
			[1/1] Look: "Look at it."
			notes? required=false draft="" "^D"
			release`},
}

func members(key, value string) canon.Value {
	return canon.OfMembers().With(key, canon.OfString(value))
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, s.check)
	}
}

// check plays the scenario.
func (s scenario) check(t *testing.T) {
	w := newFixture(t, s.source)
	w.outcomes, w.answers, w.trusted = s.outcomes, s.answers, !s.distrust
	report, err := w.perform(context.Background(), s.opts)
	if got := codeOf(err); got != s.code {
		t.Errorf("ended with %q: %v; want %q", got, err, s.code)
	}
	if f := fault.Of(err); f != nil && !strings.Contains(f.Message+" "+f.Suggestion.String(), s.want) {
		t.Errorf("got %q and %q, want %q in it", f.Message, f.Suggestion.String(), s.want)
	}
	if got, want := w.transcript(), strings.ReplaceAll(s.script, "\t", ""); got != want {
		t.Errorf("transcript:\n%s\n\nwant:\n%s", got, want)
	}
	if got := w.attempts(); got != s.attempts {
		t.Errorf("recorded %q, want %q", got, s.attempts)
	}
	if report.Performed != strings.Count(s.attempts, "advanced") || len(w.answers) > 0 {
		t.Errorf("report has %d steps; answers not asked for: %q", report.Performed, w.answers)
	}
	if (err == nil) != report.Last.IsComplete {
		t.Errorf("err is %v and complete is %v", err, report.Last.IsComplete)
	}
}
