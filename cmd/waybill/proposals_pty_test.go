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

// proposed is a folder with a store that holds one proposal, and the program in it.
func proposed(t *testing.T) (dir, name string, p program) {
	t.Helper()
	dir = t.TempDir()
	p = program{t, dir, filepath.Join(dir, "home", "local")}
	p.put("check.json", checkProposal)
	return dir, p.propose("check.json"), p
}

// put writes a file beside the store.
func (p program) put(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// propose is the id of a new proposal.
func (p program) propose(file string) string {
	p.t.Helper()
	var made struct{ ID string }
	p.json(&made, "proposals", "create", file)
	return made.ID
}

// does runs the program where nobody sits, and gives what it says and its exit status.
func (p program) does(want int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("%v: exit status %d, want %d:\n%s", args, got, want, out)
	}
	return string(out)
}

func (p program) state(name string) string {
	p.t.Helper()
	var now struct{ State string }
	p.json(&now, "proposals", "get", name)
	return now.State
}

// approves sits down and says yes.
func approves(t *testing.T, dir, name string, more ...string) *seat {
	t.Helper()
	s := sit(t, dir, 80, append([]string{"proposals", "approve", name}, more...)...)
	s.sees("Approve it? [y/N]")
	s.types("y\n")
	s.sees("✓ Approved: Check before release.")
	return s
}

// Whatever is no yes approves nothing, and says so; a yes does, and applying goes on from
// there, for whoever does it.
func TestAProposalIsApprovedAtTheTerminal(t *testing.T) {
	dir, name, p := proposed(t)
	for _, said := range []string{"\n", "n\n", "yes please\n", "\x04"} {
		s := sit(t, dir, 80, "proposals", "approve", name[5:13])
		s.sees("Check before release")
		s.sees(name)
		s.sees("Two runs forgot it.")
		s.sees(`Look at \u001b[2Jit.`)
		s.sees("Approve it? [y/N]")
		s.types(said)
		s.sees("is not approved")
		s.sees("[PROPOSAL_PENDING]")
		s.sees("Nothing was recorded.")
		s.leaves(3)
	}
	s := sit(t, dir, 80, "proposals", "approve", name)
	s.sees("[y/N]")
	s.types("\x03")
	s.leaves(-1) // the signal ends it
	if text := p.does(3, "proposals", "apply", name); !strings.Contains(text, "has 0 of the 1 approvals") {
		t.Errorf("%s", text)
	}
	s = approves(t, dir, name, "--reason", "Tried it")
	s.sees("Next: waybill proposals apply " + name[5:13])
	s.leaves(0)
	// Once is enough, and asking again would be no other question.
	s = sit(t, dir, 80, "proposals", "approve", name)
	s.sees("✓ Approved already: Check before release.")
	s.leaves(0)
	if text := p.does(0, "proposals", "apply", name); !strings.Contains(text, "✓ Installed: Check before release.") {
		t.Errorf("%s", text)
	}
	text := p.does(0, "proposals", "get", name, "--history")
	create, approve, apply := strings.Index(text, "create by agent"), strings.Index(text, "approve by human: Tried it"),
		strings.Index(text, "apply by agent")
	if create < 0 || approve < create || apply < approve {
		t.Errorf("the history is not in its order:\n%s", text)
	}
	if text := p.does(0, "audit", "list"); !strings.Contains(text, "approved proposal "+name[5:13]+": Tried it") {
		t.Errorf("%s", text)
	}
	if text := p.does(1, "proposals", "rollback", name); !strings.Contains(text,
		`agent does not have the role "reviewer" [PROPOSAL_FORBIDDEN]`) {
		t.Errorf("%s", text)
	}
	s = sit(t, dir, 80, "proposals", "rollback", name, "--reason", "It skips the check")
	s.sees("✓ Rolled back: Check before release.")
	s.leaves(0)
	p.does(6, "workflows", "inspect", "team.check")
}

// What is approved is what was shown: a revision meanwhile voids the yes, and a later one
// what was given before.
func TestAnApprovalIsOfWhatWasShown(t *testing.T) {
	dir, name, p := proposed(t)
	p.put("other.json", strings.Replace(checkProposal, "Look at", "Stare at", 1))
	s := sit(t, dir, 80, "proposals", "approve", name)
	s.sees("[y/N]")
	p.does(0, "proposals", "revise", name, "other.json")
	s.types("y\n")
	s.sees("was revised after it was shown")
	s.sees("[PROPOSAL_CHANGED]")
	s.leaves(1)
	p.does(3, "proposals", "apply", name)

	approves(t, dir, name).leaves(0)
	p.does(0, "proposals", "revise", name, "check.json", "--reason", "Back to the first")
	if text := p.does(3, "proposals", "apply", name); !strings.Contains(text, "It was given before revision 3") {
		t.Errorf("%s", text)
	}
	s = sit(t, dir, 80, "proposals", "get", name)
	s.sees("revision 3")
	s.sees("! The approval of human does not count. It was given before")
	s.leaves(0)
	if got := p.state(name); got != "revised" {
		t.Errorf("the proposal is %s", got)
	}
}

// The question is for the terminal, and so is the answer to it: whatever stdout is, the
// person sees what they approve, and nobody is asked who cannot see.
func TestAnApprovalWantsBothEndsOfATerminal(t *testing.T) {
	dir, name, p := proposed(t)
	for _, c := range []struct{ call, says string }{
		{"yes | waybill proposals approve " + name, "waits for a person's approval"},
		{"waybill proposals approve " + name + " 2>said; status=$?; cat said; exit $status",
			"waits for a person's approval"},
		{"waybill proposals approve " + name + " </dev/null", "waits for a person's approval"},
		{"waybill proposals approve " + name + " --as ada </dev/null", "waits for a person's approval"},
	} {
		s := sitWith(t, dir, 80, "sh", "-c", c.call)
		s.sees(c.says)
		s.sees("[PROPOSAL_PENDING]")
		s.leaves(3)
		if text := s.text(); strings.Contains(text, "[y/N]") {
			t.Errorf("%s: somebody was asked:\n%s", c.call, text)
		}
	}
	s := sit(t, dir, 80, "proposals", "approve", name, "--yes")
	s.sees("no flag --yes")
	s.leaves(2)
	p.does(3, "proposals", "apply", name)

	s = sitWith(t, dir, 80, "sh", "-c", "waybill proposals approve "+name+" --json | cat >out.json")
	s.sees("Two runs forgot it.")
	s.sees("[y/N]")
	s.types("y\n")
	s.leaves(0)
	if out, err := os.ReadFile(filepath.Join(dir, "out.json")); err != nil ||
		!strings.HasPrefix(string(out), `{"v":1,"kind":"proposal"`) {
		t.Errorf("%v: %s", err, out)
	}
	p.does(0, "proposals", "apply", name)
}

// Two people are two people, whatever one of them calls themselves twice.
func TestAQuorumIsOfDifferentPeople(t *testing.T) {
	dir, name, p := proposed(t)
	p.does(0, "config", "set", "proposalsQuorum", "2")
	p.does(0, "config", "set", "principals", `{"ada":["reviewer"],"bob":["reviewer"],"eve":["guest"]}`)
	s := sit(t, dir, 80, "proposals", "approve", name)
	s.sees("Identify yourself with --as, as ada or bob.")
	s.leaves(1)
	s = sit(t, dir, 80, "proposals", "approve", name, "--as", "eve")
	s.sees(`eve does not have the role "reviewer" [PROPOSAL_FORBIDDEN]`)
	s.leaves(1)
	s = approves(t, dir, name, "--as", "ada")
	s.sees("1 of 2 approvals.")
	s.leaves(0)
	if text := p.does(3, "proposals", "apply", name); !strings.Contains(text, "has 1 of the 2 approvals") {
		t.Errorf("%s", text)
	}
	s = sit(t, dir, 80, "proposals", "approve", name, "--as", "ada")
	s.sees("✓ Approved already")
	s.sees("1 of 2 approvals.")
	s.leaves(0)
	if text := p.does(0, "proposals", "list"); !strings.Contains(text, " 1/2") {
		t.Errorf("%s", text)
	}
	s = approves(t, dir, name, "--as", "bob")
	s.sees("Next: waybill proposals apply")
	s.leaves(0)
	// Who is no reviewer any more has approved nothing.
	p.does(0, "config", "set", "principals", `{"ada":["reviewer"],"bob":["guest"]}`)
	if text := p.does(3, "proposals", "apply", name); !strings.Contains(text,
		`bob does not hold the role "reviewer" now`) {
		t.Errorf("%s", text)
	}
	p.does(0, "config", "set", "principals", `{"ada":["reviewer"],"bob":["reviewer"]}`)
	p.does(0, "proposals", "apply", name)
}

// Going past the gate is a person's with the scope for it and a reason, and stays told.
func TestAnOverrideIsAPersons(t *testing.T) {
	dir, name, p := proposed(t)
	s := sit(t, dir, 80, "proposals", "apply", name, "--override")
	s.sees("reason")
	s.sees("Give one with --reason.")
	s.leaves(2)
	p.does(0, "config", "set", "roles", `{"lead":["proposals:override"]}`)
	p.does(0, "config", "set", "principals", `{"ada":["lead"],"bob":["reviewer"]}`)
	s = sit(t, dir, 80, "proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as", "bob")
	s.sees(`bob does not have the scope "proposals:override"`)
	s.leaves(1)
	p.does(1, "proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as", "ada")
	if got := p.state(name); got != "draft" {
		t.Errorf("the proposal is %s", got)
	}
	s = sit(t, dir, 80, "proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as", "ada")
	s.sees("✓ Installed: Check before release.")
	s.leaves(0)
	if text := p.does(0, "proposals", "get", name, "--history"); !strings.Contains(text,
		"apply, past the gate, by ada: It cannot wait") {
		t.Errorf("%s", text)
	}
	if text := p.does(0, "audit", "list", "--action", "override"); !strings.Contains(text,
		"installed, past the approval gate, proposal "+name[5:13]+": It cannot wait") {
		t.Errorf("%s", text)
	}
}

// Whoever looks around gets as much as fits, and how to see all of it; whoever decides
// gets all of it.
func TestABigArtifactIsCutForThoseWhoOnlyLook(t *testing.T) {
	dir, _, p := proposed(t)
	steps := ""
	for range 60 {
		steps += `{"id":"s` + string(rune('a'+len(steps)%26)) + `","title":"T","prompt":"p"},`
	}
	p.put("big.json", strings.Replace(strings.Replace(checkProposal, `[{"id":"look"`, `[`+steps+`{"id":"the-end"`, 1),
		"Check before release", "Very big", 1))
	name := p.propose("big.json")
	s := sit(t, dir, 50, "proposals", "get", name)
	s.sees("more lines")
	s.sees("All of it: waybill proposals get " + name[5:13] + " | less")
	s.leaves(0)
	s.shownNarrow(50)
	if strings.Contains(s.text(), "the-end") {
		t.Error("all of it is shown")
	}
	if !strings.Contains(p.does(0, "proposals", "get", name), "the-end") {
		t.Error("a pipe gets less than all of it")
	}
	s = sit(t, dir, 50, "proposals", "approve", name)
	s.sees("the-end")
	s.sees("[y/N]")
	s.types("\x04")
	s.leaves(3)
	s = sit(t, dir, 50, "proposals", "list")
	s.sees("Very big")
	s.leaves(0)
	s.shownNarrow(50)
}
