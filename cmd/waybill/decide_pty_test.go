//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// decidedView is what the document "run" has of decisions.
type decidedView struct {
	RunID     string
	Status    string
	Decisions []struct{ Decision, By, At, Reason, ShownDigest string }
	Pending   *struct {
		StepID   string
		Approval *struct {
			Approvers     []string
			Needed, Given int
			GivenBy       []string
			ExpiresAtMs   int64
			NotPerformer  bool
		}
	}
	Closed *struct{ Outcome, Reason string }
}

// decided reads the latest run.
func (p program) decided() (run decidedView) {
	p.t.Helper()
	p.json(&run, "runs", "show", "@last")
	return run
}

// words are the decisions of the latest run, as "decision: reason".
func (p program) words() string {
	p.t.Helper()
	var out []string
	for _, d := range p.decided().Decisions {
		out = append(out, d.Decision+": "+d.Reason)
		if d.By == "" || d.At == "" || !strings.HasPrefix(d.ShownDigest, "sha256:") {
			p.t.Errorf("%+v", d)
		}
	}
	return strings.Join(out, "; ")
}

// awaiting returns a directory where a step waits for an approval of the notes "plan A".
func awaiting(t *testing.T, workflow string) (string, program) {
	t.Helper()
	dir := newDir(t, workflow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	p.runPiped(3, "run", "w.yaml", "--notes", "plan A")
	return dir, p
}

// TestDecideInRun: each answer to the question in 'waybill run'.
func TestDecideInRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		play  func(s *terminalSession)
		exit  int
		words string
	}{
		"approved": {func(s *terminalSession) {
			s.typeText("y\n")
			s.expect("is complete")
		}, 0, "approved: "},
		"sent back, changed, approved": {func(s *terminalSession) {
			s.typeText("s\n")
			s.expect("What has to change?")
			s.expect("›")
			s.typeText("\n")
			s.expect("An answer is required.")
			s.expect("›")
			s.typeText("Name the owner\n")
			s.expect("Ship it")
			s.expect("Name the owner")
			s.expect("›")
			s.typeText("plan B\n")
			s.expect("plan B")
			s.expect("Difference to what was sent back")
			s.expect("-plan A")
			s.expect("+plan B")
			s.expect("Sent back by a person at ")
			s.expect("Approve? [y/N]")
			s.typeText("y\n")
			s.expect("is complete")
		}, 0, "sent_back: Name the owner; approved: "},
		"denied": {func(s *terminalSession) {
			s.typeText("d\n")
			s.expect("Why is it denied? The run ends with this.")
			s.expect("›")
			s.typeText("Not wanted\n")
			s.expect("was ended as failed at step 1 of 1")
			s.expect("Denied by a person: Not wanted")
		}, 1, "denied: Not wanted"},
		"left": {func(s *terminalSession) {
			s.typeText("n\n")
			s.expect("is not approved")
		}, 3, ""},
		"stopped at the question": {func(s *terminalSession) {
			s.typeText("\x03")
			s.expect("nothing was decided")
			s.expect("[INTERRUPTED]")
			s.expect("Decide with 'waybill approve ")
		}, 1, ""},
		"stopped at the reason": {func(s *terminalSession) {
			s.typeText("s\n")
			s.expect("What has to change?")
			s.expect("›")
			s.typeText("\x03")
			s.expect("[INTERRUPTED]")
		}, 1, ""},
		"the end of the input at the reason": {func(s *terminalSession) {
			s.typeText("d\n")
			s.expect("Why is it denied?")
			s.expect("›")
			s.typeText("\x04")
		}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, p := awaiting(t, shipFlow)
			s := startAtTerminal(t, dir, 80, "run", "--run", "@last")
			s.expect("Submitted")
			s.expect("plan A")
			s.expect("Handed in by ")
			s.expect("y approve it")
			s.expect("s send it back, with what has to change")
			s.expect("d deny it: the run ends")
			s.expect("Approve? [y/N]")
			tc.play(s)
			s.expectExit(tc.exit)
			if got := p.words(); got != tc.words {
				t.Errorf("recorded %q, want %q", got, tc.words)
			}
			p.verified()
		})
	}
}

// TestDecideAtApprove: each answer to the question of 'waybill approve'.
func TestDecideAtApprove(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args  []string
		play  func(s *terminalSession)
		exit  int
		words string
	}{
		"approved": {[]string{"--comment", "Fine"}, func(s *terminalSession) {
			s.typeText("y\n")
			s.expect("✓ Approved: Ship it.")
			s.expect("Next: waybill run --run ")
		}, 0, "approved: Fine"},
		"sent back": {nil, func(s *terminalSession) {
			s.typeText("s\n")
			s.expect("What has to change?")
			s.expect("›")
			s.typeText("The owner\n")
			s.expect("✓ Sent back: Ship it.")
			s.expect("Next: waybill run --run ")
		}, 0, "sent_back: The owner"},
		"denied": {nil, func(s *terminalSession) {
			s.typeText("d\n")
			s.expect("Why is it denied?")
			s.expect("›")
			s.typeText("Too late\n")
			s.expect("✓ Denied: Ship it.")
			s.expect("The run has failed.")
			s.expect("See it with: waybill runs show ")
		}, 0, "denied: Too late"},
		"not now": {nil, func(s *terminalSession) {
			s.typeText("n\n")
			s.expect("Nothing was recorded")
		}, 3, ""},
		"an answer of another question": {nil, func(s *terminalSession) {
			s.typeText("send\n")
			s.expect("Nothing was recorded")
		}, 3, ""},
		"stopped at the question": {nil, func(s *terminalSession) {
			s.typeText("\x03")
			s.expect("nothing was decided")
			s.expect("[INTERRUPTED]")
			s.expect("Decide with 'waybill approve ")
		}, 1, ""},
		"no reason at the end": {nil, func(s *terminalSession) {
			s.typeText("s\n")
			s.expect("What has to change?")
			s.expect("›")
			s.typeText("\x04")
			s.expect("Nothing was recorded")
		}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, p := awaiting(t, shipFlow)
			s := startAtTerminal(t, dir, 80, append([]string{"approve"}, tc.args...)...)
			s.expect("Approve? [y/N]")
			tc.play(s)
			s.expectExit(tc.exit)
			if got := p.words(); got != tc.words {
				t.Errorf("recorded %q, want %q", got, tc.words)
			}
		})
	}
	t.Run("other notes first", func(t *testing.T) {
		dir, p := awaiting(t, shipFlow)
		s := startAtTerminal(t, dir, 80, "approve")
		s.expect("Approve? [y/N]")
		s.typeText("e\n")
		s.expect("New notes:")
		s.expect("›")
		s.typeText("plan C\n")
		s.expect("plan C")
		s.expect("Submitted")
		s.expect("plan C")
		s.expect("Approve? [y/N]")
		s.typeText("y\n")
		s.expect("✓ Approved: Ship it.")
		s.expectExit(0)
		if got := p.words(); got != "approved: " {
			t.Error(got)
		}
	})
}

// TestDecideAboutOwnNotes: where the performer may not decide, a person who changes the notes is not asked
// about them.
func TestDecideAboutOwnNotes(t *testing.T) {
	t.Parallel()
	flow := strings.Replace(shipFlow, "kind: human_approval", "kind: human_approval, notPerformer: true", 1)
	_, p := awaiting(t, flow)
	if text := p.atTerminal(1, "y", "approve"); !strings.Contains(text, "[DECISION_REFUSED]") || strings.Contains(text, "[y/N]") {
		t.Error(text)
	}
	dir := newDir(t, flow)
	p = program{t, dir, filepath.Join(dir, "home", "local")}
	p.runPiped(0, "start", "w.yaml")
	s := startAtTerminal(t, dir, 80, "approve")
	s.expect("Approve? [y/N]")
	s.typeText("e\n")
	s.expect("New notes:")
	s.expect("›")
	s.typeText("my own\n")
	s.expect("handed in from this account")
	s.expect("[DECISION_REFUSED]")
	s.expectExit(1)
	if got := p.words(); got != "" {
		t.Error(got)
	}
}

// TestDecideWithReason: send-back and deny ask to confirm the decision and the reason, and nothing else.
func TestDecideWithReason(t *testing.T) {
	t.Parallel()
	for command, tc := range map[string]struct{ question, done, word, action string }{
		"send-back": {"Send it back? [y/N]", "✓ Sent back: Ship it.", "sent_back", "send_back"},
		"deny":      {"Deny it and end the run? [y/N]", "✓ Denied: Ship it.", "denied", "deny"},
	} {
		t.Run(command, func(t *testing.T) {
			dir, p := awaiting(t, shipFlow)
			p.runPiped(2, command, "@last")
			p.runPiped(2, command, "@last", "--reason", "  ")
			p.runPiped(2, command, "@last", "--reason", strings.Repeat("x", 4097))
			p.runPiped(2, command, "@last", "--reason", "r", "--yes")
			if out := p.runPiped(3, command, "@last", "--reason", "r"); !strings.Contains(out, "[RUN_WAITING]") ||
				!strings.Contains(out, command+" ") {
				t.Error(out)
			}
			for _, no := range []string{"n\n", "\n", "s\n", "d\n", "e\n", "yes please\n", "\x04"} {
				s := startAtTerminal(t, dir, 80, command, "--reason", "r")
				s.expect("plan A")
				s.expect("Reason: r")
				s.expect(tc.question)
				s.typeText(no)
				s.expect("Nothing was recorded")
				s.expectExit(3)
			}
			if got := p.words(); got != "" {
				t.Fatal(got)
			}
			reason := "ends \x1b[2Jhere " + strings.Repeat("ä", 1500) + " end"
			s := startAtTerminal(t, dir, 44, command, "--reason", reason)
			s.expect("Reason: ends ␛[2Jhere")
			s.turnPages()
			s.typeText("y\n")
			s.expect(tc.done)
			s.expectExit(0)
			s.shownNarrow(44)
			if strings.Contains(s.all.String(), "\x1b[2J") {
				t.Error("the reason clears the screen")
			}
			if got := p.words(); got != tc.word+": "+reason {
				t.Errorf("recorded %.80q", got)
			}
			var audit struct {
				Entries []struct {
					Action, Outcome, Code, Reason string
					Details                       map[string]string
				}
			}
			p.json(&audit, "audit", "list", "--action", tc.action)
			last := audit.Entries[len(audit.Entries)-1]
			if len(audit.Entries) != 2 || audit.Entries[0].Code != "RUN_WAITING" || last.Details["by"] == "" || len(last.Reason) > 512 ||
				!strings.HasPrefix(last.Reason, "ends ") || !strings.HasPrefix(last.Details["shownDigest"], "sha256:") {
				t.Errorf("%+v", audit.Entries)
			}
			if out := p.runPiped(0, "audit", "list"); strings.Contains(out, "\x1b[2J") || !strings.Contains(out, ": ends ") {
				t.Error(out)
			}
			for _, args := range [][]string{{"runs", "show", "@last"}, {"runs", "timeline", "@last"}} {
				if out := p.runPiped(0, args...); strings.Contains(out, "\x1b[2J") || !strings.Contains(out, "ends ") {
					t.Errorf("%v: %s", args, out)
				}
			}
			p.verified()
		})
	}
}

// TestDecisionsThatAreLate: about a step that was left, sent back already, or of a run that ended.
func TestDecisionsThatAreLate(t *testing.T) {
	t.Parallel()
	dir, p := awaiting(t, shipFlow)
	s := startAtTerminal(t, dir, 80, "send-back", "--reason", "Longer")
	s.expect("[y/N]")
	p.runPiped(3, "continue", "--run", "@last", "--notes", "plan B")
	s.typeText("y\n")
	s.expect("have changed since they were shown")
	s.expect("[DECISION_REFUSED]")
	s.expectExit(1)
	if text := p.atTerminal(0, "y", "send-back", "--reason", "Longer"); !strings.Contains(text, "Sent back") {
		t.Error(text)
	}
	if text := p.atTerminal(1, "y", "send-back", "--reason", "Still longer"); !strings.Contains(text, "was sent back already") ||
		strings.Contains(text, "[y/N]") {
		t.Error(text)
	}
	if out := p.runPiped(3, "continue", "--run", "@last", "--notes", "plan B"); !strings.Contains(out, "Longer") {
		t.Error("the performer does not learn it:", out)
	}
	p.atTerminal(0, "y", "deny", "--reason", "Enough")
	if text := p.atTerminal(1, "y", "approve"); !strings.Contains(text, "[RUN_CLOSED]") || !strings.Contains(text, "Enough") {
		t.Error(text)
	}
	if got := p.words(); got != "sent_back: Longer; denied: Enough" {
		t.Error(got)
	}
	if run := p.decided(); run.Status != "failed" {
		t.Errorf("%+v", run)
	}
	p.verified()
}

// TestDecisionsBySeveralPeople at their terminals, of accounts that are bound to principals.
func TestDecisionsBySeveralPeople(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("requires root")
	}
	workflow := strings.Replace(shipFlow, "kind: human_approval", "kind: human_approval, approvers: [reviewer], count: 2, "+
		"notPerformer: true, expiresAfter: 2h", 1)
	dir, p := awaiting(t, workflow) // by the account 0
	p.configure("principals", `{"ada":{"roles":["reviewer"],"uid":0},"bob":{"roles":["reviewer"],"uid":4711},`+
		`"eve":{"roles":["reviewer"],"uid":4712},"zoe":{"roles":["writer"],"uid":4713}}`)
	bin, err := exec.LookPath("waybill")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{filepath.Dir(dir), dir, filepath.Dir(bin), filepath.Dir(filepath.Dir(bin))} {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// as starts a command as another account, which owns the store for that time.
	as := func(uid int, args ...string) *terminalSession {
		t.Helper()
		if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(path, uid, uid)
		}); err != nil {
			t.Fatal(err)
		}
		s := terminalOf(t, dir, "waybill", args...)
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		s.start(80)
		return s
	}
	refused := func(uid int, says string, args ...string) {
		t.Helper()
		s := as(uid, args...)
		s.expect(says)
		s.expect("[DECISION_REFUSED]")
		s.expectExit(1)
		if strings.Contains(s.text(), "[y/N]") {
			t.Errorf("a person who may not decide is asked:\n%s", s.text())
		}
	}
	refused(0, "handed in from this account", "approve")
	refused(4713, "none of the people who decide", "approve")
	refused(4713, "none of the people who decide", "deny", "--reason", "r", "--as", "bob")
	s := as(4711, "approve", "--comment", "first")
	s.expect("Needed: 2 more approvals by different people, each by one of reviewer")
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expect("✓ Approved: Ship it.")
	s.expect("Still needed: 1 more approval by another person")
	s.expectExit(3)
	refused(4711, "bob approved step \"ship\" already", "approve")
	x := p.decided().Pending.Approval
	if x == nil || x.Needed != 2 || x.Given != 1 || fmt.Sprint(x.GivenBy, x.Approvers) != "[bob] [reviewer]" || x.ExpiresAtMs == 0 || !x.NotPerformer {
		t.Errorf("%+v", x)
	}
	s = as(4711, "run", "--run", "@last")
	s.expect("needs the approval of other people")
	s.expectExit(3)
	s = as(4712, "run", "--run", "@last")
	s.expect("Approved by bob at ")
	s.expect("first")
	s.expect("[y/N]")
	s.typeText("y\n")
	s.expect("is complete")
	s.expectExit(0)
	run := p.decided()
	if run.Status != "complete" || len(run.Decisions) != 2 || run.Decisions[0].By != "bob" || run.Decisions[1].By != "eve" {
		t.Errorf("%+v", run)
	}
	p.verified()
}

// TestDecisionsOfUnboundPeople: without principals two approvals cannot be distinguished.
func TestDecisionsOfUnboundPeople(t *testing.T) {
	t.Parallel()
	_, p := awaiting(t, strings.Replace(shipFlow, "kind: human_approval", "kind: human_approval, count: 2", 1))
	text := p.atTerminal(3, "y", "approve")
	if !strings.Contains(text, "[PRINCIPALS_UNBOUND]") || strings.Contains(text, "[y/N]") {
		t.Error(text)
	}
	if got := p.words(); got != "" {
		t.Error(got)
	}
	if out := p.runPiped(0, "audit", "list"); !strings.Contains(out, "PRINCIPALS_UNBOUND") {
		t.Error(out)
	}
}
