//go:build linux

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const loopFlow = `
id: test.loop
name: Review until it holds
description: d
version: 1.0.0
assessments:
  - {id: ready, purpose: Is it ready, dimensions: [{id: risk, purpose: "How risky is it?", levels: [low, high]}, {id: cover, purpose: "How well is it tested?", levels: [thin, good], required: false}]}
steps:
  - id: rounds
    type: loop
    title: Review rounds
    loop: {type: while, maxIterations: 3, conditionSource: {kind: artifact_contract, contractRef: wr.contracts.loop_control}}
    body:
      - {id: decide, title: Decide, prompt: "Round {{currentIteration}}.", outputContract: {contractRef: wr.contracts.loop_control}}
  - {id: assess, title: Assess, prompt: Judge it., assessmentRefs: [ready]}
  - {id: ship, title: Ship, prompt: Ship it., requireConfirmation: {kind: human_approval}}
`

// shownNarrow fails the test for lines that are wider than the terminal.
func (s *terminalSession) shownNarrow(columns int) {
	s.Helper()
	for _, line := range strings.Split(s.text(), "\n") {
		if n := len([]rune(line)); n > columns {
			s.Errorf("a line of %d characters on %d columns: %q", n, columns, line)
		}
	}
}

// TestRunLoopsAssessmentAndApproval: in one call a person decides about loop rounds, answers
// an assessment and approves; the answers are recorded as artifacts.
func TestRunLoopsAssessmentAndApproval(t *testing.T) {
	t.Parallel()
	dir := newDir(t, loopFlow)
	s := startAtTerminal(t, dir, 44, "run", "w.yaml")
	s.expect("[1/3] Decide")
	s.expect(`round 1 of "Review rounds"`)
	s.expect("Round 1.")
	s.expect("Enter for")
	s.typeText("first look\n")
	s.expect("Repeat the loop, or stop?")
	s.expect("[continue/stop] ›")
	s.typeText("\n")
	s.expect("Type continue or stop.")
	s.typeText("c\n")
	s.expect("Why? Enter for no reason")
	s.typeText("one more\n")
	s.expect(`round 2 of "Review rounds"`)
	s.expect("›")
	s.typeText("\n")
	s.expect("[continue/stop] ›")
	s.typeText("STOP\n")
	s.expect("›")
	s.typeText("\n")
	s.expect("[2/3] Assess")
	s.expect("›")
	s.typeText("looked\n")
	s.expect("How risky is it? (risk)")
	s.expect("[low/high] ›")
	s.typeText("1\n")
	s.expect("How well is it tested?")
	s.expect("[thin/good] ›")
	s.typeText("\n")
	s.expect("[3/3] Ship")
	s.expect("›")
	s.typeText("it is ready\n")
	s.expect("Submitted")
	s.expect("it is ready")
	s.expect("Approve? [y/N]")
	s.typeText("y\n")
	s.expect("✓ Review until it holds is complete")
	s.expect("4 steps in")
	s.expectExit(0)
	s.shownNarrow(44)
	if text := s.text(); strings.Contains(text, "wr.loop_control") || strings.Contains(text, "Not accepted") {
		t.Errorf("the screen shows data for programs:\n%s", text)
	}
	stored, err := program{t, dir, filepath.Join(dir, "home", "local")}.command("runs", "events").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"wr.loop_control", "wr.assessment", "wr.human_approval"} {
		if !strings.Contains(string(stored), `"artifactKind":"`+kind+`"`) {
			t.Errorf("no artifact of contract %s is recorded", kind)
		}
	}
}

const shipFlow = `{id: test.ship, name: Ship, description: d, version: 1.0.0, steps: [{id: ship, title: Ship it, prompt: Ship., requireConfirmation: {kind: human_approval}}]}`

func TestApproveAtTheTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, shipFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	_ = p.command("run", "w.yaml", "--notes", "the \x1b[2Jplan").Run()

	// An empty line, a no, and input typed before the question do not approve.
	for _, answer := range []string{"\n", "n\n", "yes please\n", "\x04"} {
		s := startAtTerminal(t, dir, 80, "approve")
		s.expect("Ship it")
		s.expect("Submitted")
		s.expect("the ␛[2Jplan")
		s.expect("Approve? [y/N]")
		s.typeText(answer)
		s.expect("is not approved")
		s.expect("Nothing was recorded")
		s.expectExit(3)
	}
	// With --json the question is shown on the terminal and the document on stdout.
	s := startAtTerminal(t, dir, 80, "approve", "@last", "--comment", "Checked")
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expect("✓ Approved: Ship it.")
	s.expect("Next: waybill run --run ")
	s.expectExit(0)
	s = startAtTerminal(t, dir, 80, "approve")
	s.expect("✓ Already approved: Ship it.")
	s.expectExit(0)
	// The next attempt submits no other output, so the approval is valid and it is accepted.
	if out, err := p.command("run", "--run", "@last", "--notes", "something else").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestApproveRejectsChangedOutput: output that is submitted while the question is shown makes
// the approval invalid.
func TestApproveRejectsChangedOutput(t *testing.T) {
	t.Parallel()
	dir := newDir(t, shipFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	_ = p.command("run", "w.yaml", "--notes", "the plan").Run()
	s := startAtTerminal(t, dir, 80, "approve")
	s.expect("the plan")
	s.expect("[y/N]")
	_ = p.command("continue", "--run", "@last", "--notes", "another plan").Run()
	s.typeText("y\n")
	s.expect("have changed since they were shown")
	s.expect("Review them with 'waybill approve")
	s.expectExit(1)
	var run struct{ Status string }
	p.json(&run, "runs", "show")
	if run.Status != "blocked" {
		t.Errorf("the run is %s", run.Status)
	}
}

const handFlow = `
id: test.hand
name: Hand over
description: d
version: 1.0.0
steps:
  - {id: hand, title: Hand over, prompt: Hand it over., outputContract: {contractRef: wr.contracts.gate_verdict}}
`

// TestRunAsksForArtifactFile: an artifact is requested by path and validated before anything
// is recorded.
func TestRunAsksForArtifactFile(t *testing.T) {
	t.Parallel()
	dir := newDir(t, handFlow)
	s := startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("requires a result of kind wr.gate_verdict, as a JSON file")
	s.expect("Example:")
	s.expect(`"kind": "wr.gate_verdict"`)
	s.expect("waybill continue --run ")
	s.expect("Enter to stop here")
	s.typeText("nothing.json\n")
	s.expect("cannot be read")
	s.expect("›")
	if err := os.WriteFile(filepath.Join(dir, "wrong file.json"), []byte(`{"kind":"wr.gate_verdict"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	s.typeText("'wrong file.json'\n")
	s.expect("The artifact is not valid:")
	s.expect("›")
	pinned := struct {
		Pending struct {
			OutputContract struct{ Example any }
		}
	}{}
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	p.json(&pinned, "continue", "--run", "@last")
	if err := os.WriteFile(filepath.Join(dir, "right.json"), asJSON(t, pinned.Pending.OutputContract.Example),
		0o600); err != nil {
		t.Fatal(err)
	}
	s.typeText("right.json\n")
	s.expect("Enter for none")
	s.typeText("\n")
	s.expect("✓ Hand over is complete")
	s.expectExit(0)

	s = startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("Enter to stop here")
	s.typeText("\n")
	s.expect("you left the run at step 1 of 1")
	s.expectExit(3)
}

// Cancelling a run from another terminal stops its command.
func TestCancelFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, commandFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	s := startAtTerminal(t, dir, 60, "run", "w.yaml", "--trust")
	s.expect("[2/2] Wait")
	for { // until the command has started
		if _, err := os.Stat(filepath.Join(dir, "pid")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	out, err := p.command("runs", "cancel", "@last", "--reason", "Not needed any more").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "cancellation requested") {
		t.Errorf("%v: %s", err, out)
	}
	s.expect("was cancelled at")
	s.expect("Not needed any more")
	s.expectExit(1)
	s.shownNarrow(60)
	var run struct{ Status string }
	p.json(&run, "runs", "show")
	if run.Status != "cancelled" {
		t.Errorf("the run is %s", run.Status)
	}
}

// TestWatchPrintsFactsPromptly: each fact is printed within a second of being recorded, and
// the watch ends with the run.
func TestWatchPrintsFactsPromptly(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	if out, err := p.command("start", "w.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	watch := p.command("runs", "watch", "@last", "--json")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watch.Process.Kill() })
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			lines <- in.Text()
		}
	}()
	time.Sleep(300 * time.Millisecond) // the watch has read the existing facts
	for _, step := range []string{"looks fine", "because", "--set target=north"} {
		args := []string{"continue", "--run", "@last", "--notes", step}
		if flag, value, ok := strings.Cut(step, " "); ok && flag == "--set" {
			args = []string{"continue", "--run", "@last", "--set", value}
		}
		if out, err := p.command(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		late := time.After(time.Minute)
		for seen := false; !seen; {
			select {
			case line, open := <-lines:
				if !open {
					t.Fatal("the watch ended before the run")
				}
				seen = strings.Contains(line, `"kind":"node_created"`)
			case <-late:
				t.Fatalf("no %q in the output of watch", step)
			}
		}
	}
	for range lines {
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("watch of an ended run: %v", err)
	}
}

func TestWatchStopsOnCtrlC(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	_ = p.command("start", "w.yaml").Run()
	s := startAtTerminal(t, dir, 40, "runs", "watch")
	s.expect("Watching run ")
	_ = p.command("continue", "--run", "@last", "--done").Run()
	s.expect("agent")
	s.typeText("\x03")
	s.expectExit(0)
	s.shownNarrow(40)
}
