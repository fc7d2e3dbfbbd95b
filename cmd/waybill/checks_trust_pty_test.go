//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkedFlow has one step with a check whose script is pinned.
const checkedFlow = `{id: test.checked, name: Checked, description: d, version: 1.0.0, steps: [
	{id: build, title: Build, prompt: Build it., checks: [{id: tests, argv: [sh, run.sh], pins: [run.sh], expect: {tests: {min: 1}}}]},
	{id: end, title: End, prompt: End.}]}`

// passing is a script that reports one test.
const passing = "echo TAP version 13; echo 1..1; echo ok 1\n"

// TestTrustOfChecks: a workflow with checks only is trusted as one with commands; a changed pin is shown before it
// is trusted again; places that cannot be pinned are refused with one sentence.
func TestTrustOfChecks(t *testing.T) {
	dir := newDir(t, checkedFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	script := filepath.Join(dir, "run.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.atTerminal(2, "y", "trust", "w.yaml"); !strings.Contains(out, "run.sh") || strings.Contains(out, "may run") {
		t.Errorf("a pin that is missing:\n%s", out)
	}
	write(passing)
	p.runPiped(0, "start", "w.yaml")
	if out := p.runPiped(3, "continue", "--run", "@last", "--notes", "built"); !strings.Contains(out, "WORKFLOW_UNTRUSTED") ||
		!strings.Contains(out, "waybill trust") {
		t.Errorf("without trust:\n%s", out)
	}
	if out := p.runPiped(3, "trust", "w.yaml"); !strings.Contains(out, "terminal") {
		t.Errorf("trust in a pipe:\n%s", out)
	}
	out := p.atTerminal(0, "y", "trust", "w.yaml")
	for _, want := range []string{"check tests, at each attempt", "sh run.sh", "with the content of", "1 command may run"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
	if out := p.atTerminal(0, "", "trust", "w.yaml"); !strings.Contains(out, "already trusted") {
		t.Errorf("trusted already:\n%s", out)
	}
	write("# another\n" + passing)
	out = p.runPiped(3, "continue", "--run", "@last", "--notes", "built")
	if !strings.Contains(out, "check_changed") || !strings.Contains(out, "run.sh") {
		t.Errorf("a changed pin:\n%s", out)
	}
	out = p.atTerminal(0, "y", "trust", "w.yaml")
	if !strings.Contains(out, "pin run.sh: sha256:") || !strings.Contains(out, "was trusted before") {
		t.Errorf("trusted again:\n%s", out)
	}
	var list struct{ Trusted []struct{ WorkflowID string } }
	if p.json(&list, "trust", "--list"); len(list.Trusted) != 1 {
		t.Errorf("%+v", list)
	}
	p.runPiped(0, "continue", "--run", "@last", "--notes", "built")
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "w.yaml"), script); err != nil {
		t.Fatal(err)
	}
	if out := p.atTerminal(2, "y", "trust", "w.yaml"); !strings.Contains(out, "run.sh") || strings.Contains(out, "may run") {
		t.Errorf("a pin that is a link:\n%s", out)
	}
}
