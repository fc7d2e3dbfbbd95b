//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"
)

const backFlow = `
id: test.back
name: Back
description: d
version: 1.0.0
steps:
  - {id: plan, title: Plan it, prompt: Plan.}
  - {id: ask, title: Where, prompt: Say where., inputs: [{contextKey: target, reason: needs_user_choice, choiceKind: scope_boundary, choices: [a, b], description: Where to}, {contextKey: why, reason: needs_user_artifact, description: Why}]}
  - {id: sure, title: Sure, prompt: Be sure., requireConfirmation: true}
`

// TestBackAtTerminal: b alone on a line goes back at each question of a run, and is never notes by
// accident; with a space before it, it is text.
func TestBackAtTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, backFlow)
	s := startAtTerminal(t, dir, 100, "run", "w.yaml")
	s.expect("[1/3] Plan it")
	s.expect("Enter for none\n")
	s.typeText("b\n")
	s.expect("There is no earlier step. A space before the b makes it text.")
	s.expect("›")
	s.typeText(" b\n")
	// A choice of the question is that choice, and nothing else.
	s.expect("[2/3] Where")
	s.expect("Where to (target)\n")
	s.typeText("b\n")
	s.expect("Why (why), b for an earlier step")
	s.typeText("b\n")
	s.expect("Go back: the number of the step to do again, or Enter for none\n")
	s.expect(`1 "Plan it"`)
	s.expect("›")
	s.typeText("\n")
	s.expect("Why (why)")
	s.typeText(" b\n")
	s.expect("Enter for none, b for an earlier step")
	s.typeText("first\n")
	s.expect("[3/3] Sure")
	s.expect("b goes back to an earlier step")
	s.expect("Continue with this step? [y/N]")
	s.typeText("b\n")
	s.expect(`2 "Where"`)
	s.expect("›")
	s.typeText("1\n")
	s.expect("[1/3] Plan it")
	s.expect("This step was done before.")
	s.expect("Enter for none\n")
	s.typeText("another plan\n")
	s.expect("[2/3] Where")
	s.expect("Where to")
	s.typeText("a\n")
	s.expect("Why")
	s.typeText("so\n")
	s.expect("Enter for none")
	s.typeText("second\n")
	s.expect("Continue with this step? [y/N]")
	s.typeText("y\n")
	s.expect("Enter for none")
	s.typeText("\n")
	s.expect("✓ Back is complete")
	s.expectExit(0)
	events := output(t, dir, "runs", "events", "@last")
	for _, want := range []string{`"notesMarkdown":"b"`, `"why":"b"`, `"target":"b"`, `"notesMarkdown":"another plan"`,
		`"target":"a"`, `"kind":"non_tip_advance"`} {
		if strings.Count(events, want) != 1 {
			t.Errorf("%d of %s", strings.Count(events, want), want)
		}
	}
}

// output runs the program without a terminal in the place of newDir.
func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("waybill", args...)
	cmd.Dir, cmd.Env = dir, terminalOf(t, dir, "true").cmd.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestApproveIsNoPlaceToGoBack: the word is a no to an approval, which is for what was shown.
func TestApproveIsNoPlaceToGoBack(t *testing.T) {
	t.Parallel()
	dir := newDir(t, strings.Replace(backFlow, "requireConfirmation: true", "requireConfirmation: {kind: human_approval}", 1))
	output(t, dir, "start", "w.yaml", "--set", "target=a", "--set", "why=b")
	for range 2 {
		output(t, dir, "continue", "--run", "@last", "--notes", "x")
	}
	s := startAtTerminal(t, dir, 100, "run", "--run", "@last")
	s.expect("[3/3] Sure")
	s.expect("b for an earlier step")
	s.typeText("shipped\n")
	s.expect("Approve? [y/N]")
	s.typeText("b\n")
	s.expect("is not approved")
	s.expectExit(3)
}
