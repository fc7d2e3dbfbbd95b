//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// createProposal creates a proposal from a file and returns its id.
func (p program) createProposal(file string) string {
	p.t.Helper()
	var created struct{ ID string }
	p.json(&created, "proposals", "create", file)
	return created.ID
}

// configure sets keys of the configuration at a terminal, and answers yes to what is asked.
func (p program) configure(pairs ...string) {
	p.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		p.atTerminal(0, "y", "config", "set", pairs[i], pairs[i+1])
	}
}

// atTerminal runs the program at a terminal, answers each question, and returns what the terminal
// showed. The exit status must be want.
func (p program) atTerminal(want int, answer string, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, _ := withPerson(cmd, answer)
	if got := cmd.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("%v: exit status %d, want %d:\n%s", args, got, want, out)
	}
	return string(out)
}

// principals is a value of the key of that name: each principal has a role. The one named me is bound
// to the account of the test, the others to accounts that no process has.
func principals(roles map[string]string, me string) string {
	all := map[string]any{}
	uid := 4294967000
	for name, role := range roles {
		uid++
		all[name] = map[string]any{"roles": []string{role}, "uid": uid}
		if name == me {
			all[name] = map[string]any{"roles": []string{role}, "uid": os.Getuid()}
		}
	}
	text, _ := json.Marshal(all)
	return string(text)
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
	t.Parallel()
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
	create, approve, apply := strings.Index(text, "create by Sam (agent)"), strings.Index(text, "approve by human: Tried it"),
		strings.Index(text, "apply by agent, as Sam")
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
	t.Parallel()
	dir, name, p := storeWithProposal(t)
	p.writeFile("other.json", strings.Replace(checkProposal, "Look at", "Stare at", 1))
	for _, args := range [][]string{{"approve", name}, {"apply", name, "--override", "--reason", "It cannot wait"}} {
		s := startAtTerminal(t, dir, 80, append([]string{"proposals"}, args...)...)
		if args[0] == "apply" {
			s.expect("Reason: It cannot wait")
		}
		s.expect("[y/N]")
		p.runPiped(0, "proposals", "revise", name, "other.json")
		s.typeText("y\n")
		s.expect("was revised after it was shown")
		s.expect("[PROPOSAL_CHANGED]")
		s.expectExit(1)
		p.runPiped(3, "proposals", "apply", name)
	}

	approveAtTerminal(t, dir, name).expectExit(0)
	p.atTerminal(0, "", "proposals", "revise", name, "check.json", "--reason", "Back to the first")
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text, "It was given before revision 4") {
		t.Errorf("%s", text)
	}
	s := startAtTerminal(t, dir, 80, "proposals", "get", name)
	s.expect("revision 4")
	s.expect("! The approval of human does not count. It was given before")
	s.expectExit(0)
	if got := p.proposalState(name); got != "revised" {
		t.Errorf("state %s, want revised", got)
	}
}

// TestApprovalRequiresTerminal redirects stdin, stderr or stdout of 'proposals approve' and of an
// override. The question is asked only if all three are the terminal.
func TestApprovalRequiresTerminal(t *testing.T) {
	t.Parallel()
	dir, name, p := storeWithProposal(t)
	for _, c := range []struct{ call, want string }{
		{"yes | waybill proposals approve " + name, "requires approval by a person"},
		{"waybill proposals approve " + name + " 2>err; status=$?; cat err; exit $status",
			"requires approval by a person"},
		{"waybill proposals approve " + name + " </dev/null", "requires approval by a person"},
		{"waybill proposals approve " + name + " --as ada </dev/null", "requires approval by a person"},
		{"waybill proposals approve " + name + " >out; status=$?; cat out; exit $status",
			"requires approval by a person"},
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

	override := "waybill proposals apply " + name + " --override --reason r "
	for _, call := range []struct {
		line string
		exit int
		code string
	}{
		{"yes | " + override, 1, "[PROPOSAL_FORBIDDEN]"},
		{override + "</dev/null", 1, "[PROPOSAL_FORBIDDEN]"},
		{override + ">out; exit $?", 3, "[RUN_WAITING]"},
		{override + "2>err; status=$?; cat err; exit $status", 3, "[RUN_WAITING]"},
	} {
		s := startProgramAtTerminal(t, dir, 80, "sh", "-c", call.line)
		s.expectExit(call.exit)
		if text := s.text(); strings.Contains(text, "Two runs forgot it.") || !strings.Contains(text, call.code) {
			t.Errorf("%s: the question was asked:\n%s", call.line, text)
		}
	}
	s = startAtTerminal(t, dir, 80, "proposals", "apply", name, "--override", "--reason", "r", "--yes")
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

// TestTwoNamesAreOnePerson: a quorum counts accounts. One person who gives several names is one, and a
// quorum above one is refused while names are all there is.
func TestTwoNamesAreOnePerson(t *testing.T) {
	t.Parallel()
	dir, name, p := storeWithProposal(t)
	s := startAtTerminal(t, dir, 80, "config", "set", "proposalsQuorum", "2")
	s.expect("[PRINCIPALS_UNBOUND]")
	s.expect("First give each principal its account")
	s.expectExit(3)
	p.configure("principals", `{"ada":["reviewer"],"bob":["reviewer"]}`)
	p.atTerminal(3, "y", "config", "set", "proposalsQuorum", "2")
	p.configure("principals", principals(map[string]string{"ada": "reviewer", "bob": "reviewer"}, "ada"),
		"proposalsQuorum", "2")
	p.atTerminal(3, "y", "config", "set", "principals", `{"ada":["reviewer"],"bob":["reviewer"]}`)
	p.atTerminal(3, "y", "config", "set", "principals", "--reset")
	for _, as := range []string{"ada", "bob", "carol"} {
		if text := p.atTerminal(0, "y", "proposals", "approve", name, "--as", as); !strings.Contains(text,
			"1 of 2 approvals.") {
			t.Errorf("as %s: %s", as, text)
		}
	}
	for _, as := range []string{"ada", "bob"} {
		if text := p.runPiped(3, "proposals", "apply", name, "--as", as); !strings.Contains(text,
			"has 1 of the 2 approvals") {
			t.Errorf("as %s: %s", as, text)
		}
	}
	var history struct {
		Approvals []struct {
			Principal, Account, PolicyDigest string
			Quorum                           int
			Actor                            struct{ Ref string }
		}
	}
	p.json(&history, "proposals", "get", name, "--history")
	if a := history.Approvals; len(a) != 1 || a[0].Principal != "ada" || a[0].Quorum != 2 || a[0].Actor.Ref != "ada" ||
		a[0].Account != fmt.Sprintf("uid:%d", os.Getuid()) || !strings.HasPrefix(a[0].PolicyDigest, "sha256:") {
		t.Errorf("%+v", a)
	}
}

// TestNamesGiveNoAuthority: --as is a label. Neither in a pipe nor at a terminal does it give a role or
// a scope, and a refusal names no principal.
func TestNamesGiveNoAuthority(t *testing.T) {
	t.Parallel()
	_, name, p := storeWithProposal(t)
	p.configure("roles", `{"lead":["proposals:apply","proposals:override"]}`, "principals",
		principals(map[string]string{"ada": "lead", "bob": "reviewer", "eve": "guest"}, "eve"))
	refused := func(text string) {
		t.Helper()
		if !strings.Contains(text, "[PROPOSAL_FORBIDDEN]") || strings.Contains(text, "[y/N]") ||
			strings.Contains(text, "ada") || strings.Contains(text, "bob") || strings.Contains(text, "Ask ") ||
			strings.Contains(text, "Identify") || strings.Contains(text, "lead") {
			t.Errorf("%s", text)
		}
	}
	why := []string{"--override", "--reason", "It cannot wait"}
	refused(p.atTerminal(1, "y", "proposals", "approve", name, "--as", "bob"))
	refused(p.atTerminal(1, "y", append([]string{"proposals", "apply", name, "--as", "ada"}, why...)...))
	refused(p.runPiped(1, append([]string{"proposals", "apply", name, "--as", "ada"}, why...)...))
	p.configure("proposalsActivation", "direct-rbac")
	refused(p.atTerminal(1, "y", "proposals", "apply", name, "--as", "ada"))
	refused(p.runPiped(1, "proposals", "apply", name, "--as", "ada"))
	if text := p.runPiped(1, "proposals", "apply", name, "--as", "ada", "--json"); strings.Contains(text, "ada") ||
		strings.Contains(text, "holders") || strings.Contains(text, "lead") {
		t.Errorf("%s", text)
	}
	if got := p.proposalState(name); got != "draft" {
		t.Errorf("state %s, want draft", got)
	}
	// The account gives the scope under any name.
	p.configure("principals", principals(map[string]string{"ada": "lead", "bob": "reviewer"}, "ada"))
	p.runPiped(0, "proposals", "apply", name, "--as", "bob")
	if text := p.runPiped(0, "proposals", "get", name, "--history"); !strings.Contains(text,
		"apply by ada (agent), as bob") {
		t.Errorf("%s", text)
	}
}

// TestNamesWhileNoneIsBound: while no principal is bound to an account, the person at the terminal has
// every role, with --as and without. In a pipe there is no authority, with --as and without.
func TestNamesWhileNoneIsBound(t *testing.T) {
	t.Parallel()
	for _, as := range [][]string{nil, {"--as", "ada"}, {"--as", "eve"}} {
		t.Run(strings.Join(as, " "), func(t *testing.T) {
			_, name, p := storeWithProposal(t)
			p.configure("principals", `{"ada":["lead"],"eve":["guest"]}`, "roles", `{"lead":["proposals:apply"]}`,
				"proposalsActivation", "direct-rbac")
			apply := append([]string{"proposals", "apply", name}, as...)
			if text := p.runPiped(1, apply...); !strings.Contains(text, "[PROPOSAL_FORBIDDEN]") ||
				p.proposalState(name) != "draft" {
				t.Errorf("in a pipe: %s", text)
			}
			if text := p.atTerminal(3, "n", apply...); !strings.Contains(text, "[y/N]") || p.proposalState(name) != "draft" {
				t.Errorf("answered with no: %s", text)
			}
			if text := p.atTerminal(0, "y", apply...); !strings.Contains(text, "[y/N]") || p.proposalState(name) != "applied" {
				t.Errorf("at a terminal: %s", text)
			}
		})
	}
}

// TestQuorumCountsAccounts checks that a quorum of two is reached by two accounts with the role, and
// that an approval is void once its principal has lost the role. It requires an account that may act
// as another one.
func TestQuorumCountsAccounts(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("requires root")
	}
	const other = 4711
	dir, name, p := storeWithProposal(t)
	bind := func(ada, bob string) {
		p.configure("principals", fmt.Sprintf(`{"ada":{"roles":[%q],"uid":0},"bob":{"roles":[%q],"uid":%d}}`, ada, bob,
			other))
	}
	bind("reviewer", "reviewer")
	p.configure("proposalsQuorum", "2")
	// The other account may read and write the store.
	program, err := exec.LookPath("waybill")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{filepath.Dir(dir), dir, filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, other, other)
	}); err != nil {
		t.Fatal(err)
	}
	s := terminalOf(t, dir, "waybill", "proposals", "approve", name, "--as", "ada")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	s.start(80)
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expect("1 of 2 approvals.")
	s.expectExit(0)
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text, "has 1 of the 2 approvals") {
		t.Errorf("%s", text)
	}
	if text := p.runPiped(0, "proposals", "list"); !strings.Contains(text, " 1/2") {
		t.Errorf("%s", text)
	}
	s = approveAtTerminal(t, dir, name)
	s.expect("Next: waybill proposals apply")
	s.expectExit(0)
	// The approval of a principal who lost the role does not count.
	bind("reviewer", "guest")
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text,
		`Its principal does not hold the role "reviewer" now`) || strings.Contains(text, "bob") {
		t.Errorf("%s", text)
	}
	bind("reviewer", "reviewer")
	p.runPiped(0, "proposals", "apply", name)
}

// TestOverrideShowsAndAsks checks that --override of the approval gate requires a terminal, a scope and
// a reason, shows all of the proposal and what it would replace, asks, and that history and audit log
// record it.
func TestOverrideShowsAndAsks(t *testing.T) {
	t.Parallel()
	dir, name, p := storeWithProposal(t)
	s := startAtTerminal(t, dir, 80, "proposals", "apply", name, "--override")
	s.expect("reason")
	s.expect("Give one with --reason.")
	s.expectExit(2)
	p.writeFile("before.json", strings.Replace(checkProposal, "Look at", "Stare at", 1))
	before := p.createProposal("before.json")
	approveAtTerminal(t, dir, before).expectExit(0)
	p.runPiped(0, "proposals", "apply", before)
	override := []string{"proposals", "apply", name, "--override", "--reason", "It cannot wait", "--as", "ada"}
	for _, answer := range []string{"\n", "n\n", "\x04"} {
		s := startAtTerminal(t, dir, 80, override...)
		s.expect("Check before release")
		s.expect("Two runs forgot it.")
		s.expect("Approvals     0 of 1")
		s.expect("Installed now, would be replaced:")
		s.expect("Stare at")
		s.expect("Proposed:")
		s.expect(`Look at \u001b[2Jit.`)
		s.expect("Install it without the approvals? [y/N]")
		s.typeText(answer)
		s.expect("not confirmed [RUN_WAITING]")
		s.expectExit(3)
		if got := p.proposalState(name); got != "draft" {
			t.Fatalf("state %s after %q, want draft", got, answer)
		}
	}
	p.runPiped(1, override...)
	s = startAtTerminal(t, dir, 80, override...)
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expect("✓ Installed: Check before release.")
	s.expectExit(0)
	if text := p.runPiped(0, "proposals", "get", name, "--history"); !strings.Contains(text,
		"apply (gate overridden) by human, as ada: It cannot wait") {
		t.Errorf("%s", text)
	}
	if text := p.runPiped(0, "audit", "list", "--action", "override"); !strings.Contains(text,
		"installed without the approval gate proposal "+name[5:13]+": It cannot wait") {
		t.Errorf("%s", text)
	}
}

// TestRemovingApprovalsRequiresTheRole: a program, or a person without the role, cannot revise, reject
// or archive what a person approved.
func TestRemovingApprovalsRequiresTheRole(t *testing.T) {
	t.Parallel()
	dir, name, p := storeWithProposal(t)
	calls := [][]string{{"revise", name, "check.json"}, {"reject", name}, {"archive", name}}
	approveAtTerminal(t, dir, name).expectExit(0)
	for _, args := range calls {
		if text := p.runPiped(1, append([]string{"proposals"}, args...)...); !strings.Contains(text,
			`requires the role "reviewer", which agent does not have [PROPOSAL_FORBIDDEN]`) {
			t.Errorf("%s", text)
		}
	}
	// While principals are bound, a program of an account with the role may.
	p.configure("principals", principals(map[string]string{"ada": "reviewer", "eve": "guest"}, "ada"))
	p.atTerminal(0, "y", "proposals", "approve", name)
	p.runPiped(0, "proposals", "reject", name, "--reason", "The role permits it")
	if got := p.proposalState(name); got != "rejected" {
		t.Errorf("state %s, want rejected", got)
	}
}

// TestPolicyOfThenAndNow: the quorum is the larger one of when the approval was given and of now.
func TestPolicyOfThenAndNow(t *testing.T) {
	t.Parallel()
	_, name, p := storeWithProposal(t)
	p.configure("principals", principals(map[string]string{"ada": "reviewer", "bob": "reviewer"}, "ada"),
		"proposalsQuorum", "2")
	p.atTerminal(0, "y", "proposals", "approve", name)
	p.configure("proposalsQuorum", "1")
	if text := p.runPiped(3, "proposals", "apply", name); !strings.Contains(text, "has 1 of the 2 approvals") {
		t.Errorf("loosened: %s", text)
	}
	p.writeFile("other.json", strings.Replace(checkProposal, "team.check", "team.other", 1))
	other := p.createProposal("other.json")
	p.atTerminal(0, "y", "proposals", "approve", other)
	p.configure("proposalsQuorum", "2")
	if text := p.runPiped(3, "proposals", "apply", other); !strings.Contains(text, "has 1 of the 2 approvals") {
		t.Errorf("tightened: %s", text)
	}
	p.configure("proposalsQuorum", "1")
	p.runPiped(0, "proposals", "apply", other)
	p.atTerminal(0, "y", "proposals", "approve", name) // again, under the policy in force
	p.runPiped(0, "proposals", "apply", name)
}

// TestLargeArtifactIsCutOnlyInGet checks that 'proposals get' cuts a long artifact at a
// terminal and names the command that prints all of it. A pipe, and a person who is asked to
// approve it, get all of it.
func TestLargeArtifactIsCutOnlyInGet(t *testing.T) {
	t.Parallel()
	dir, _, p := storeWithProposal(t)
	steps := ""
	for n := range 60 {
		steps += fmt.Sprintf(`{"id":"s%d","title":"T","prompt":"p"},`, n)
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
