//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const checkProposal = `{"kind":"workflow-chain-pack","title":"Check before release","rationale":"Two runs forgot it.",
	"artifact":{"id":"team.check","name":"Check","description":"Look twice.","version":"1.0.0","steps":[{"id":"look","title":"Look","prompt":"Look at \u001b[2Jit."}]}}`

// storeWithProposal creates a directory with a store that has one proposal. It returns the
// directory, the id of the proposal, and the program that runs in the directory.
func storeWithProposal(t *testing.T) (dir, name string, p program) {
	t.Helper()
	dir = t.TempDir()
	p = program{t, dir, filepath.Join(dir, "home", "local")}
	p.writeFile("check.json", checkProposal)
	return dir, p.createProposal("check.json"), p
}

// writeFile writes a file into the directory that the program runs in.
func (p program) writeFile(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// createProposal creates a proposal from a file and returns its id.
func (p program) createProposal(file string) string {
	p.t.Helper()
	var created struct{ ID string }
	p.json(&created, "proposals", "create", file)
	return created.ID
}

// runPiped runs the program without a terminal and returns its output. The exit status must
// be want.
func (p program) runPiped(want int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("%v: exit status %d, want %d:\n%s", args, got, want, out)
	}
	return string(out)
}

// proposalState returns the current state of a proposal.
func (p program) proposalState(name string) string {
	p.t.Helper()
	var current struct{ State string }
	p.json(&current, "proposals", "get", name)
	return current.State
}

// approveAtTerminal starts 'proposals approve' at a terminal and answers yes.
func approveAtTerminal(t *testing.T, dir, name string, more ...string) *terminalSession {
	t.Helper()
	s := startAtTerminal(t, dir, 80, append([]string{"proposals", "approve", name}, more...)...)
	s.expect("Approve it? [y/N]")
	s.typeText("y\n")
	s.expect("✓ Approved: Check before release.")
	return s
}

// TestApproveProposalAtTerminal checks that any answer but yes records nothing, that yes
// records the approval, and that any caller can then apply the proposal.
func TestApproveProposalAtTerminal(t *testing.T) {
	dir, name, p := storeWithProposal(t)
	for _, answer := range []string{"\n", "n\n", "yes please\n", "\x04"} {
		s := startAtTerminal(t, dir, 80, "proposals", "approve", name[5:13])
		s.expect("Check before release")
		s.expect(name)
		s.expect("Two runs forgot it.")
		s.expect(`Look at \u001b[2Jit.`)
		s.expect("Approve it? [y/N]")
		s.typeText(answer)
		s.expect("is not approved")
		s.expect("[PROPOSAL_PENDING]")
		s.expect("Nothing was recorded.")
		s.expectExit(3)
	}
	s := startAtTerminal(t, dir, 80, "proposals", "approve", name)
	s.expect("[y/N]")
	s.typeText("\x03")
	s.expectExit(-1) // the signal ends it
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text, "has 0 of the 1 approvals") {
		t.Errorf("%s", text)
	}
	s = approveAtTerminal(t, dir, name, "--reason", "Tried it")
	s.expect("Next: waybill proposals apply " + name[5:13])
	s.expectExit(0)
	// A second approval by the same person is not asked for.
	s = startAtTerminal(t, dir, 80, "proposals", "approve", name)
	s.expect("✓ Approved already: Check before release.")
	s.expectExit(0)
	if text := p.runPiped(0, "proposals", "apply", name); !strings.Contains(text,
		"✓ Installed: Check before release.") {
		t.Errorf("%s", text)
	}
	text := p.runPiped(0, "proposals", "get", name, "--history")
	create, approve, apply := strings.Index(text, "create by agent"), strings.Index(text, "approve by human: Tried it"),
		strings.Index(text, "apply by agent")
	if create < 0 || approve < create || apply < approve {
		t.Errorf("the history is not in the order create, approve, apply:\n%s", text)
	}
	if text := p.runPiped(0, "audit", "list"); !strings.Contains(text, "approved proposal "+name[5:13]+": Tried it") {
		t.Errorf("%s", text)
	}
	if text := p.runPiped(1, "proposals", "rollback", name); !strings.Contains(text,
		`agent does not have the role "reviewer" [PROPOSAL_FORBIDDEN]`) {
		t.Errorf("%s", text)
	}
	s = startAtTerminal(t, dir, 80, "proposals", "rollback", name, "--reason", "It skips the check")
	s.expect("✓ Rolled back: Check before release.")
	s.expectExit(0)
	p.runPiped(6, "workflows", "inspect", "team.check")
}

// TestRevisionVoidsApproval revises a proposal while the question is open, and after it was
// approved. The approval is rejected in the first case and void in the second.
func TestRevisionVoidsApproval(t *testing.T) {
	dir, name, p := storeWithProposal(t)
	p.writeFile("other.json", strings.Replace(checkProposal, "Look at", "Stare at", 1))
	s := startAtTerminal(t, dir, 80, "proposals", "approve", name)
	s.expect("[y/N]")
	p.runPiped(0, "proposals", "revise", name, "other.json")
	s.typeText("y\n")
	s.expect("was revised after it was shown")
	s.expect("[PROPOSAL_CHANGED]")
	s.expectExit(1)
	p.runPiped(3, "proposals", "apply", name)

	approveAtTerminal(t, dir, name).expectExit(0)
	p.runPiped(0, "proposals", "revise", name, "check.json", "--reason", "Back to the first")
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text, "It was given before revision 3") {
		t.Errorf("%s", text)
	}
	s = startAtTerminal(t, dir, 80, "proposals", "get", name)
	s.expect("revision 3")
	s.expect("! The approval of human does not count. It was given before")
	s.expectExit(0)
	if got := p.proposalState(name); got != "revised" {
		t.Errorf("state %s, want revised", got)
	}
}

// TestApprovalRequiresTerminal redirects stdin, stderr or stdout of 'proposals approve'. The
// question is asked only if all three are the terminal.
func TestApprovalRequiresTerminal(t *testing.T) {
	dir, name, p := storeWithProposal(t)
	for _, c := range []struct{ call, want string }{
		{"yes | waybill proposals approve " + name, "requires approval by a person"},
		{"waybill proposals approve " + name + " 2>err; status=$?; cat err; exit $status",
			"requires approval by a person"},
		{"waybill proposals approve " + name + " </dev/null", "requires approval by a person"},
		{"waybill proposals approve " + name + " --as ada </dev/null", "requires approval by a person"},
		{"waybill proposals approve " + name + " | cat", "requires approval by a person"},
	} {
		s := startProgramAtTerminal(t, dir, 80, "sh", "-c", c.call)
		s.expect(c.want)
		s.expect("[PROPOSAL_PENDING]")
		if !strings.HasSuffix(c.call, "| cat") { // the status of a pipe is that of its last program
			s.expectExit(3)
		}
		if text := s.text(); strings.Contains(text, "[y/N]") {
			t.Errorf("%s: the question was asked:\n%s", c.call, text)
		}
	}
	s := startAtTerminal(t, dir, 80, "proposals", "approve", name, "--yes")
	s.expect("no flag --yes")
	s.expectExit(2)
	p.runPiped(3, "proposals", "apply", name)

	// With --json the question is asked as well.
	s = startAtTerminal(t, dir, 80, "proposals", "approve", name, "--json")
	s.expect("Two runs forgot it.")
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expect(`{"v":1,"kind":"proposal"`)
	s.expectExit(0)
	p.runPiped(0, "proposals", "apply", name)
}

// TestQuorumCountsDifferentPeople checks that a quorum of two requires two principals with
// the role, and that an approval is void once its principal has lost the role.
func TestQuorumCountsDifferentPeople(t *testing.T) {
	dir, name, p := storeWithProposal(t)
	p.runPiped(0, "config", "set", "proposalsQuorum", "2")
	p.runPiped(0, "config", "set", "principals", `{"ada":["reviewer"],"bob":["reviewer"],"eve":["guest"]}`)
	s := startAtTerminal(t, dir, 80, "proposals", "approve", name)
	s.expect("Identify yourself with --as, as ada or bob.")
	s.expectExit(1)
	s = startAtTerminal(t, dir, 80, "proposals", "approve", name, "--as", "eve")
	s.expect(`eve does not have the role "reviewer" [PROPOSAL_FORBIDDEN]`)
	s.expectExit(1)
	s = approveAtTerminal(t, dir, name, "--as", "ada")
	s.expect("1 of 2 approvals.")
	s.expectExit(0)
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text, "has 1 of the 2 approvals") {
		t.Errorf("%s", text)
	}
	s = startAtTerminal(t, dir, 80, "proposals", "approve", name, "--as", "ada")
	s.expect("✓ Approved already")
	s.expect("1 of 2 approvals.")
	s.expectExit(0)
	if text := p.runPiped(0, "proposals", "list"); !strings.Contains(text, " 1/2") {
		t.Errorf("%s", text)
	}
	s = approveAtTerminal(t, dir, name, "--as", "bob")
	s.expect("Next: waybill proposals apply")
	s.expectExit(0)
	// The approval of a principal who lost the role does not count.
	p.runPiped(0, "config", "set", "principals", `{"ada":["reviewer"],"bob":["guest"]}`)
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text,
		`bob does not hold the role "reviewer" now`) {
		t.Errorf("%s", text)
	}
	p.runPiped(0, "config", "set", "principals", `{"ada":["reviewer"],"bob":["reviewer"]}`)
	p.runPiped(0, "proposals", "apply", name)
}

// TestOverrideRequiresPersonScopeAndReason checks that --override of the approval gate
// requires a terminal, a scope and a reason, and that history and audit log record it.
func TestOverrideRequiresPersonScopeAndReason(t *testing.T) {
	dir, name, p := storeWithProposal(t)
	s := startAtTerminal(t, dir, 80, "proposals", "apply", name, "--override")
	s.expect("reason")
	s.expect("Give one with --reason.")
	s.expectExit(2)
	p.runPiped(0, "config", "set", "roles", `{"lead":["proposals:override"]}`)
	p.runPiped(0, "config", "set", "principals", `{"ada":["lead"],"bob":["reviewer"]}`)
	s = startAtTerminal(t, dir, 80, "proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as",
		"bob")
	s.expect(`bob does not have the scope "proposals:override"`)
	s.expectExit(1)
	p.runPiped(1, "proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as", "ada")
	if got := p.proposalState(name); got != "draft" {
		t.Errorf("state %s, want draft", got)
	}
	s = startAtTerminal(t, dir, 80, "proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as",
		"ada")
	s.expect("✓ Installed: Check before release.")
	s.expectExit(0)
	if text := p.runPiped(0, "proposals", "get", name, "--history"); !strings.Contains(text,
		"apply (gate overridden) by ada: It cannot wait") {
		t.Errorf("%s", text)
	}
	if text := p.runPiped(0, "audit", "list", "--action", "override"); !strings.Contains(text,
		"installed without the approval gate proposal "+name[5:13]+": It cannot wait") {
		t.Errorf("%s", text)
	}
}

// TestLargeArtifactIsCutOnlyInGet checks that 'proposals get' cuts a long artifact at a
// terminal and names the command that prints all of it. A pipe, and a person who is asked to
// approve it, get all of it.
func TestLargeArtifactIsCutOnlyInGet(t *testing.T) {
	dir, _, p := storeWithProposal(t)
	steps := ""
	for range 60 {
		steps += `{"id":"s` + string(rune('a'+len(steps)%26)) + `","title":"T","prompt":"p"},`
	}
	p.writeFile("big.json", strings.Replace(
		strings.Replace(checkProposal, `[{"id":"look"`, `[`+steps+`{"id":"the-end"`, 1),
		"Check before release", "Very big", 1))
	name := p.createProposal("big.json")
	s := startAtTerminal(t, dir, 50, "proposals", "get", name)
	s.expect("more lines")
	s.expect("Show all: waybill proposals get " + name[5:13] + " | less")
	s.expectExit(0)
	s.shownNarrow(50)
	if strings.Contains(s.text(), "the-end") {
		t.Error("the artifact is not cut at a terminal")
	}
	if !strings.Contains(p.runPiped(0, "proposals", "get", name), "the-end") {
		t.Error("the artifact is cut in a pipe")
	}
	s = startAtTerminal(t, dir, 50, "proposals", "approve", name)
	s.turnPages()
	if !strings.Contains(s.text(), "the-end") {
		t.Error("the artifact is cut before the question")
	}
	s.typeText("\x04")
	s.expectExit(3)
	s = startAtTerminal(t, dir, 50, "proposals", "list")
	s.expect("Very big")
	s.expectExit(0)
	s.shownNarrow(50)
}
