//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decisionsFlow is a step that people approve, with the members of its gate, and one after it.
func decisionsFlow(members string) string {
	return `{id: test.people, name: People, description: d, version: 1.0.0, steps: [
		{id: plan, title: Plan, prompt: Write the plan., requireConfirmation: {kind: human_approval` + members + `}},
		{id: build, title: Build, prompt: Build it.}]}`
}

// handedIn is a run of decisionsFlow whose first step waits for people.
func handedIn(t *testing.T, members string) program {
	dir := newDir(t, decisionsFlow(members))
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	p.runPiped(0, "start", "w.yaml")
	p.runPiped(3, "continue", "--run", "@last", "--notes", "plan A")
	return p
}

// decidedRun is the part of the document "run" about decisions.
type decidedRun struct {
	Status, CloseReason string
	Decisions           []struct{ Decision, By, At, Reason, ShownDigest string }
	Pending             struct {
		Approval *struct {
			Approvers     []string
			Needed, Given int
			ExpiresAtMs   int64
		}
	}
}

// audited returns action, outcome and reason of the lines of the audit log about steps.
func (p program) audited() (lines []string) {
	p.t.Helper()
	var log struct {
		Entries []struct {
			Action, Outcome, Code, Reason string
			Details                       map[string]string
		}
	}
	p.json(&log, "audit", "list")
	for _, e := range log.Entries {
		if e.Action == "approve" || e.Action == "send_back" || e.Action == "deny" {
			lines = append(lines, strings.TrimSpace(e.Action+" "+e.Outcome+" "+e.Code+" "+e.Reason))
			if e.Outcome == "done" && !strings.HasPrefix(e.Details["shownDigest"], "sha256:") {
				p.t.Errorf("no digest of what was shown: %+v", e)
			}
		}
	}
	return lines
}

// TestPeopleDecideAtTheTerminal: a step is sent back twice, then approved, with what each question shows.
func TestPeopleDecideAtTheTerminal(t *testing.T) {
	t.Parallel()
	p := handedIn(t, "")
	s := startAtTerminal(t, p.dir, 60, "send-back", "@last", "--reason", "No way back\x1b[2J is named")
	for _, want := range []string{"Submitted", "plan A", "Handed in by", "Reason: No way back", "Send it back? [y/N]"} {
		s.expect(want)
	}
	s.typeText("y\n")
	s.expect("✓ Sent back: Plan.")
	s.expectExit(0)
	if out := p.runPiped(3, "continue", "--run", "@last", "--notes", "plan A"); !strings.Contains(out, "its outputs are still the same") ||
		!strings.Contains(out, "> No way back") || strings.Contains(out, "\x1b") {
		t.Errorf("the same output again:\n%s", out)
	}
	p.runPiped(3, "continue", "--run", "@last", "--notes", "plan B")
	s = startAtTerminal(t, p.dir, 80, "approve", "@last")
	for _, want := range []string{"Difference to what was sent back", "-plan A", "+plan B", "Sent back by a person at ",
		"y approve it", "s send it back", "d deny it", "e change the notes first", "Approve? [y/N]"} {
		s.expect(want)
	}
	s.typeText("s\n")
	s.expect("What has to change?")
	s.typeText("\n")
	s.expect("An answer is required")
	s.typeText("Name the owner\n")
	s.expect("✓ Sent back: Plan.")
	s.expectExit(0)
	p.runPiped(3, "continue", "--run", "@last", "--notes", "plan C by Ada")
	p.atTerminal(0, "y", "approve", "@last", "--comment", "Good")
	run := decidedRun{}
	p.json(&run, "runs", "show", "@last")
	var got []string
	for _, d := range run.Decisions {
		got = append(got, d.Decision+" "+d.By+" "+d.Reason)
		if d.At == "" || !strings.HasPrefix(d.ShownDigest, "sha256:") {
			t.Errorf("%+v", d)
		}
	}
	want := "sent_back human No way back\x1b[2J is named|sent_back human Name the owner|approved human Good"
	if strings.Join(got, "|") != want {
		t.Errorf("decisions %q", got)
	}
	if got := strings.Join(p.audited(), "|"); strings.Count(got, "send_back") != 2 || strings.Count(got, "approve") != 1 ||
		!strings.Contains(got, "Name the owner") || !strings.Contains(got, "Good") {
		t.Errorf("audit log %q", got)
	}
	if out := p.runPiped(0, "runs", "timeline", "@last"); !strings.Contains(out, "“Plan” was sent back by a person: Name the owner") ||
		!strings.Contains(out, "“Plan” was approved by a person: Good") {
		t.Errorf("timeline:\n%s", out)
	}
	p.runPiped(3, "run", "--run", "@last") // the next step is a person's
	p.runPiped(0, "replay", "@last")
	p.runPiped(0, "verify")
	// The bundle has them; where it is imported they are shown and do not count.
	p.runPiped(0, "export", "@last", "-o", "b.json")
	other := program{t, p.dir, filepath.Join(p.dir, "home", "other")}
	other.runPiped(0, "import", "b.json")
	if out := other.runPiped(0, "runs", "show", "@last"); !strings.Contains(out, "sent back by a person") || !strings.Contains(out, "does not count here") {
		t.Errorf("imported:\n%s", out)
	}
}

// TestPeopleDeny: a denial ends the run as failed, from the command, the question of approve and that of run.
func TestPeopleDeny(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"deny", "approve", "run"} {
		t.Run(way, func(t *testing.T) {
			p := handedIn(t, "")
			switch way {
			case "deny":
				s := startAtTerminal(t, p.dir, 80, "deny", "@last", "--reason", "Not wanted")
				s.expect("Deny it and end the run? [y/N]")
				s.typeText("y\n")
				s.expect("✓ Denied: Plan.")
				s.expectExit(0)
			case "approve":
				s := startAtTerminal(t, p.dir, 80, "approve", "@last")
				s.expect("Approve? [y/N]")
				s.typeText("d\n")
				s.expect("Why is it denied?")
				s.typeText("Not wanted\n")
				s.expect("✓ Denied: Plan.")
				s.expectExit(0)
			case "run":
				s := startAtTerminal(t, p.dir, 80, "run", "--run", "@last")
				s.expect("Approve? [y/N]")
				s.typeText("d\n")
				s.expect("Why is it denied?")
				s.typeText("Not wanted\n")
				s.expect("Denied by a person: Not wanted")
				s.expectExit(1)
			}
			run := decidedRun{}
			p.json(&run, "runs", "show", "@last")
			if run.Status != "failed" || run.CloseReason != "Denied by a person: Not wanted" || len(run.Decisions) != 1 ||
				run.Decisions[0].Decision != "denied" {
				t.Errorf("%+v", run)
			}
			if out := p.runPiped(1, "continue", "--run", "@last", "--notes", "again"); !strings.Contains(out, "Denied by a person: Not wanted") {
				t.Errorf("the answer to the next attempt:\n%s", out)
			}
			p.runPiped(0, "verify")
			p.runPiped(0, "replay", "@last")
		})
	}
}

// TestPeopleInRun: at the question of run the step is sent back and performed again; a no leaves it.
func TestPeopleInRun(t *testing.T) {
	t.Parallel()
	dir := newDir(t, decisionsFlow(""))
	s := startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("Enter for none")
	s.typeText("plan A\n")
	s.expect("Approve? [y/N]")
	s.typeText("s\n")
	s.expect("What has to change?")
	s.typeText("More detail\n")
	s.expect("> More detail")
	s.expect("Enter for none")
	s.typeText("plan A in detail\n")
	s.expect("-plan A")
	s.expect("+plan A in detail")
	s.expect("Approve? [y/N]")
	s.typeText("\n")
	s.expect("is not approved")
	s.expectExit(3)
	s = startAtTerminal(t, dir, 72, "run", "--run", "@last")
	s.expect("Approve? [y/N]")
	s.typeText("y\n")
	s.expect("Build")
	s.expect("Enter for")
	s.typeText("built\n")
	s.expect("is complete")
	s.expectExit(0)
}

// TestDecisionsThatAreRefused: each is named, records nothing but a line in the audit log, and has its exit
// status.
func TestDecisionsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := handedIn(t, "")
	if out := p.runPiped(2, "send-back", "@last"); !strings.Contains(out, "--reason") {
		t.Errorf("no reason:\n%s", out)
	}
	p.runPiped(2, "deny", "@last", "--reason", strings.Repeat("x", 4097))
	for _, args := range [][]string{{"approve", "@last"}, {"send-back", "@last", "--reason", "r"}, {"deny", "@last", "--reason", "r"}} {
		if out := p.runPiped(3, args...); !strings.Contains(out, "at a terminal") {
			t.Errorf("%v without a terminal:\n%s", args, out)
		}
	}
	p.atTerminal(3, "n", "deny", "@last", "--reason", "r")
	want := "approve failed RUN_WAITING|send_back failed RUN_WAITING|deny failed RUN_WAITING"
	if got := strings.Join(p.audited(), "|"); got != want {
		t.Errorf("audit log %q", got)
	}
	p.atTerminal(0, "y", "send-back", "@last", "--reason", "Change it")
	p.atTerminal(1, "y", "send-back", "@last", "--reason", "Change it now") // nothing was handed in since
	p.runPiped(3, "continue", "--run", "@last", "--notes", "plan B")
	s := startAtTerminal(t, p.dir, 80, "deny", "@last", "--reason", "r")
	s.expect("[y/N]")
	p.runPiped(3, "continue", "--run", "@last", "--notes", "plan C")
	s.typeText("y\n")
	s.expect("have changed since they were shown")
	s.expectExit(1)
	// A step that has moved on.
	s = startAtTerminal(t, p.dir, 80, "send-back", "@last", "--reason", "r")
	s.expect("[y/N]")
	p.atTerminal(0, "y", "approve", "@last")
	p.runPiped(3, "run", "--run", "@last") // the next step is a person's
	s.typeText("y\n")
	s.expect("have changed since they were shown")
	s.expectExit(1)
	if got := strings.Join(p.audited(), "|"); strings.Count(got, "DECISION_REFUSED") != 3 {
		t.Errorf("audit log %q", got)
	}
	p.atTerminal(2, "y", "approve", "@last") // the next step needs no approval
	p.runPiped(0, "verify")
}

// TestPeopleOfAccounts: two of three people, of whom one performed. The accounts of the others are bound to
// the account of the test in turn.
func TestPeopleOfAccounts(t *testing.T) {
	t.Parallel()
	uid := os.Getuid()
	bind := func(p program, mine string) {
		p.t.Helper()
		all := map[string]any{}
		for i, name := range []string{"ada", "bob", "eve"} {
			id := 60000 + i
			if name == mine {
				id = uid
			}
			all[name] = map[string]any{"roles": []string{"lead"}, "uid": id}
		}
		text, _ := json.Marshal(all)
		p.atTerminal(0, "y", "config", "set", "principals", string(text))
	}
	p := handedIn(t, ", count: 2")
	if out := p.atTerminal(3, "y", "approve", "@last"); !strings.Contains(out, "PRINCIPALS_UNBOUND") {
		t.Errorf("without principals:\n%s", out)
	}
	bind(p, "ada")
	if out := p.atTerminal(3, "y", "approve", "@last"); !strings.Contains(out, "Still needed: 1 more approval by another person") {
		t.Errorf("the first of two:\n%s", out)
	}
	if out := p.atTerminal(1, "y", "approve", "@last"); !strings.Contains(out, "ada approved step") {
		t.Errorf("a second one of the same person:\n%s", out)
	}
	run := decidedRun{}
	p.json(&run, "runs", "show", "@last")
	if a := run.Pending.Approval; a == nil || a.Needed != 2 || a.Given != 1 {
		t.Errorf("%+v", run.Pending.Approval)
	}
	if out := p.runPiped(3, "run", "--run", "@last"); !strings.Contains(out, "needs a person's approval") {
		t.Errorf("one is not enough:\n%s", out)
	}

	// The one who performed may not decide; a name in --as changes nothing.
	p = handedIn(t, ", notPerformer: true, approvers: [lead], expiresAfter: 1h")
	bind(p, "ada")
	for _, args := range [][]string{{"approve", "@last", "--as", "bob"}, {"send-back", "@last", "--reason", "r"}, {"deny", "@last", "--reason", "r"}} {
		if out := p.atTerminal(1, "y", args...); !strings.Contains(out, "handed in from this account") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	run = decidedRun{}
	p.json(&run, "runs", "show", "@last")
	if a := run.Pending.Approval; a == nil || fmt.Sprint(a.Approvers) != "[lead]" || a.Needed != 1 || a.Given != 0 {
		t.Errorf("%+v", run.Pending.Approval)
	}
	if got := strings.Count(strings.Join(p.audited(), "|"), "DECISION_REFUSED"); got != 3 {
		t.Errorf("%d refusals in the audit log", got)
	}

	// A person who is none of the approvers, and one whose role is taken away before the attempt.
	p = handedIn(t, ", approvers: [owner, lead], expiresAfter: 1h")
	p.atTerminal(0, "y", "config", "set", "principals", fmt.Sprintf(`{"ada":{"roles":["guest"],"uid":%d}}`, uid))
	p.atTerminal(1, "y", "approve", "@last")
	bind(p, "ada")
	p.atTerminal(0, "y", "approve", "@last")
	run = decidedRun{}
	p.json(&run, "runs", "show", "@last")
	if a := run.Pending.Approval; a == nil || a.Given != 1 || a.ExpiresAtMs == 0 {
		t.Errorf("%+v", run.Pending.Approval)
	}
	p.atTerminal(0, "y", "config", "set", "principals", fmt.Sprintf(`{"ada":{"roles":["guest"],"uid":%d}}`, uid))
	if out := p.runPiped(3, "continue", "--run", "@last", "--done"); !strings.Contains(out, "does not meet the settings in force") {
		t.Errorf("a role that was taken away:\n%s", out)
	}
	if out := p.runPiped(3, "run", "--run", "@last"); !strings.Contains(out, "needs a person's approval") {
		t.Errorf("run after a role was taken away:\n%s", out)
	}
	bind(p, "ada")
	p.runPiped(3, "run", "--run", "@last")
	run = decidedRun{}
	if p.json(&run, "runs", "show", "@last"); run.Pending.Approval != nil {
		t.Errorf("the run has not moved on: %+v", run)
	}
}
