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

// passingScript is a script that reports one test.
const passingScript = "echo TAP version 13; echo 1..1; echo ok 1\n"

// TestTrustOfChecks: a workflow with checks only is trusted as one with commands; a changed pin is shown before it
// is trusted again; places that cannot be pinned are refused with one sentence.
func TestTrustOfChecks(t *testing.T) {
	t.Parallel()
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
	write(passingScript)
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
	write("# another\n" + passingScript)
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

// TestTrustWarnsOfHomeFolders: the question names the folders of PATH in the home folder, and none of the project.
func TestTrustWarnsOfHomeFolders(t *testing.T) {
	t.Parallel()
	c := untrusted(t, sumFlow)
	ask := func(path string) string {
		cmd := c.cmd("trust", ".waybill/workflows/w.yaml")
		cmd.Env = append(cmd.Env, "PATH="+path)
		out, _ := withPerson(cmd, "n")
		return string(out)
	}
	c.write("home:go/bin/x", "")
	c.write("bin/x", "")
	system := os.Getenv("PATH")
	out := ask(filepath.Join(c.home, "go/bin") + ":" + filepath.Join(c.dir, "bin") + ":" + system)
	if !strings.Contains(out, "each program that runs as you can replace them") || !strings.Contains(out, filepath.Join(c.home, "go/bin")) ||
		strings.Contains(out, filepath.Join(c.dir, "bin")) {
		t.Error(out)
	}
	if out := ask(system); strings.Contains(out, "can replace them") || !strings.Contains(out, "Trust them?") {
		t.Error(out)
	}
}

// TestApprovalShowsChecks: the question of an approval has each check in one line.
func TestApprovalShowsChecks(t *testing.T) {
	t.Parallel()
	c := newChecked(t, sumFlow+"    requireConfirmation: {kind: human_approval}\n")
	c.write("sum.sh", rightSum)
	at := byCLI(c, c.start(nil), submission{notes: "Done."})
	if at.Kind != "blocked" {
		t.Fatal(at.raw)
	}
	out := c.atTerminal(0, "y", "approve", at.Data.Session.RunID)
	if !strings.Contains(out, "check tests passed after ") || !strings.Contains(out, "5 passed, 0 failed, 0 skipped (go)") ||
		strings.Contains(out, "wr.check_result") || strings.Contains(out, "argvDigest") {
		t.Error(out)
	}
	if done := byCLI(c, at, submission{}); !done.Data.IsComplete {
		t.Error(done.raw)
	}
}

// TestBlockedCheckAtANarrowTerminal: what a check reports fits the terminal.
func TestBlockedCheckAtANarrowTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, checkedFlow)
	if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte("exit 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	p.atTerminal(0, "y", "trust", "w.yaml")
	p.runPiped(0, "start", "w.yaml")
	s := startAtTerminal(t, dir, 40, "continue", "--run", "@last", "--notes", "done")
	s.expectExit(3)
	text, _, _ := strings.Cut(s.text(), "Next: ") // a line to copy is not wrapped
	if !strings.Contains(text, "✗ Check \"tests\" of step \"build\"") {
		t.Error(text)
	}
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(strings.TrimRight(line, "\r"))); n > 40 {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
}
