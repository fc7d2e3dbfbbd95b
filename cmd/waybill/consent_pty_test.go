//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/waybill/waybill/ports/porttest/sample"
)

const (
	commandWorkflow = `{id: test.cmd, name: Cmd, description: d, version: 1.0.0, steps: [{id: a, title: A, action: {kind: command, argv: [sh, -c, "echo ran >>ran"]}}]}`
	confirmWorkflow = `{id: test.confirm, name: Confirm, description: d, version: 1.0.0, steps: [{id: a, title: A, requireConfirmation: true, action: {kind: command, argv: [sh, -c, "echo ran >>ran"]}}]}`
)

// consentCase is a command that asks for a consent.
type consentCase struct {
	name     string
	workflow string
	setUp    func(t *testing.T, p program, dir string) (args []string)
	question string
	code     string // of the error without a terminal and for a no
	given    func(t *testing.T, p program, dir string) bool
}

// ran reports whether the command of a workflow has run.
func ran(_ *testing.T, _ program, dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "ran"))
	return err == nil
}

// prints returns whether the output of a call contains a text.
func prints(text string, args ...string) func(*testing.T, program, string) bool {
	return func(_ *testing.T, p program, _ string) bool {
		out, _ := p.command(args...).CombinedOutput()
		return strings.Contains(string(out), text)
	}
}

// afterCalls prepares a store with calls, whose exit statuses do not matter, and returns the call that asks.
func afterCalls(args []string, before ...string) func(*testing.T, program, string) []string {
	return func(_ *testing.T, p program, _ string) []string {
		for _, call := range before {
			_ = p.command(strings.Fields(call)...).Run()
		}
		return args
	}
}

// attachable makes a folder with a workflow file.
func attachable(dir string) string {
	name := filepath.Join(dir, "flows")
	_ = os.MkdirAll(name, 0o700)
	_ = os.WriteFile(filepath.Join(name, "w.yaml"), []byte(shipFlow), 0o600)
	return name
}

// attachedList returns the content of the list of attached folders.
func attachedList(dir string) string {
	data, _ := os.ReadFile(filepath.Join(dir, "waybill", "sources.json"))
	return string(data)
}

// consents has each command that asks for a consent.
func consents() []consentCase {
	return []consentCase{
		{"trust", commandWorkflow, afterCalls([]string{"trust", "w.yaml"}), "Trust them? [y/N]", "WORKFLOW_UNTRUSTED",
			prints("test.cmd", "trust", "--list")},
		{"trust in run", commandWorkflow, afterCalls([]string{"run", "w.yaml"}), "Allow it? [y/a/N]", "WORKFLOW_UNTRUSTED", ran},
		{"confirmation in run", confirmWorkflow, afterCalls([]string{"run", "w.yaml", "--trust"}), "Run this command? [y/N]",
			"RUN_WAITING", ran},
		{"approval in run", shipFlow, afterCalls([]string{"run", "w.yaml", "--notes", "plan"}), "Approve? [y/N]", "RUN_WAITING",
			prints("wr.human_approval", "runs", "events")},
		{"approve", shipFlow, afterCalls([]string{"approve"}, "run w.yaml --notes plan"), "Approve? [y/N]", "RUN_WAITING",
			prints("wr.human_approval", "runs", "events")},
		{"keys rotate", shipFlow, afterCalls([]string{"keys", "rotate"}, "start w.yaml"), "Replace it? [y/N]", "RUN_WAITING",
			prints("previous", "keys", "list")},
		{"sessions delete", shipFlow, afterCalls([]string{"sessions", "delete", "@last"}, "start w.yaml"),
			"to the trash? [y/N]", "RUN_WAITING", prints("Ship", "sessions", "list", "--trash")},
		{"empty trash", shipFlow, afterCalls([]string{"sessions", "delete", "--empty-trash"}, "start w.yaml",
			"sessions delete @last --yes"), "permanently? [y/N]", "RUN_WAITING",
			func(t *testing.T, p program, dir string) bool {
				return !prints("Ship", "sessions", "list", "--trash")(t, p, dir)
			}},
		{"artifacts erase", shipFlow, func(t *testing.T, p program, dir string) []string {
			if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"a":"secret"}`), 0o600); err != nil {
				t.Fatal(err)
			}
			afterCalls(nil, "start w.yaml", "continue --run @last --artifact a.json")(t, p, dir)
			return []string{"artifacts", "erase", artifactOf(t, filepath.Join(dir, "a.json")), "--reason", "r"}
		}, "Erase it permanently? [y/N]", "RUN_WAITING", func(_ *testing.T, p program, dir string) bool {
			out, _ := p.command("audit", "list").CombinedOutput()
			return strings.Contains(string(out), "erase")
		}},
		{"workflows attach", shipFlow, func(_ *testing.T, _ program, dir string) []string {
			return []string{"workflows", "attach", attachable(dir)}
		}, "Attach it? [y/N]", "RUN_WAITING", func(_ *testing.T, _ program, dir string) bool {
			return strings.Contains(attachedList(dir), `"name":"flows"`)
		}},
		{"workflows detach", shipFlow, func(t *testing.T, _ program, dir string) []string {
			s := startAtTerminal(t, dir, 80, "workflows", "attach", attachable(dir))
			s.expect("Attach it? [y/N]")
			s.typeText("y\n")
			s.expectExit(0)
			return []string{"workflows", "detach", "flows"}
		}, "Detach it? [y/N]", "RUN_WAITING", func(_ *testing.T, _ program, dir string) bool {
			return !strings.Contains(attachedList(dir), `"name":"flows"`)
		}},
		{"repair", shipFlow, func(t *testing.T, p program, dir string) []string {
			afterCalls(nil, "start w.yaml")(t, p, dir)
			if err := os.WriteFile(filepath.Join(dir, "home/local/config.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"repair", "--apply", "--log-level", "off"}
		}, "Apply this plan? [y/N]", "RUN_WAITING", func(_ *testing.T, _ program, dir string) bool {
			_, err := os.Stat(filepath.Join(dir, "home/local/config.json"))
			return err != nil
		}},
		{"settings", shipFlow, afterCalls([]string{"config", "set", "retentionDays", "30"}, "start w.yaml"),
			"Change it? [y/N]", "RUN_WAITING", prints("30", "config", "get", "retentionDays")},
		{"settings as they are", shipFlow, func(t *testing.T, p program, dir string) []string {
			afterCalls(nil, "start w.yaml")(t, p, dir)
			p.forgeSettings(`{"retentionDays":30}`)
			return []string{"config", "confirm"}
		}, "Confirm all of this? [y/N]", "RUN_WAITING", prints("confirmed the settings", "audit", "list")},
		{"serve keys add", shipFlow, afterCalls([]string{"serve", "keys", "add", "ci", "--scope", "runs:read"}, "start w.yaml"),
			"Add it? [y/N]", "RUN_WAITING", prints("runs:read", "serve", "keys", "list")},
		{"serve keys remove", shipFlow, func(_ *testing.T, p program, _ string) []string {
			p.atTerminal(0, "y", "serve", "keys", "add", "ci", "--scope", "runs:read")
			return []string{"serve", "keys", "remove", "ci"}
		}, "Remove it? [y/N]", "RUN_WAITING", prints("No program has a key", "serve", "keys", "list")},
		{"override", shipFlow, func(t *testing.T, p program, _ string) []string {
			p.writeFile("p.json", checkProposal)
			return []string{"proposals", "apply", p.createProposal("p.json"), "--override", "--reason", "r"}
		}, "without the approvals? [y/N]", "PROPOSAL_FORBIDDEN", prints("installed without", "audit", "list")},
		{"proposals approve", shipFlow, func(t *testing.T, p program, dir string) []string {
			if err := os.WriteFile(filepath.Join(dir, "p.json"), []byte(checkProposal), 0o600); err != nil {
				t.Fatal(err)
			}
			var doc struct{ ID string }
			p.json(&doc, "proposals", "create", "p.json")
			return []string{"proposals", "approve", doc.ID}
		}, "Approve it? [y/N]", "PROPOSAL_PENDING", prints("1/1", "proposals", "list")},
	}
}

// TestEraseShowsWhatIsErased: the question covers what the artifact is, who submitted it, and the reason.
func TestEraseShowsWhatIsErased(t *testing.T) {
	t.Parallel()
	dir := newDir(t, shipFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"kind":"list","a":"secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	afterCalls(nil, "start w.yaml --title Nightly", "continue --run @last --artifact a.json")(t, p, dir)
	s := startAtTerminal(t, dir, 80, "artifacts", "erase", artifactOf(t, filepath.Join(dir, "a.json")), "--reason", "A раssword")
	for _, want := range []string{"list, application/json, 28 bytes", "submitted for step ", "(Nightly)",
		"Reason: A раssword ⟨U+0440 U+0430⟩", "Erase it permanently? [y/N] "} {
		s.expect(want)
	}
	s.typeText("n\n")
	s.expectExit(3)
}

// TestEarlyInputIsNoConsent types y before each question is shown, several times, as a program that
// waits for a careless person would.
func TestEarlyInputIsNoConsent(t *testing.T) {
	t.Parallel()
	for _, c := range consents() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t, c.workflow)
			p := program{t, dir, filepath.Join(dir, "home", "local")}
			args := c.setUp(t, p, dir)
			s := startProgramAtTerminal(t, dir, 80, "sh", append([]string{"-c", `sleep 0.5; exec waybill "$@"`, "sh"}, args...)...)
			s.typeText("y\ny\na\nyes\ny\ny\n")
			s.expect(c.question)
			time.Sleep(200 * time.Millisecond) // the program must wait now
			s.typeText("n\n")
			s.expectExit(3)
			if c.given(t, p, dir) {
				t.Errorf("an answer that was typed before the question was taken:\n%s", s.text())
			}
			// The same command with an answer in time does what it is for.
			s = startAtTerminal(t, dir, 80, args...)
			s.expect(c.question)
			s.typeText("y\n")
			<-s.done
			if !c.given(t, p, dir) {
				t.Errorf("the answer to the question was not taken:\n%s", s.text())
			}
		})
	}
}

// asked matches a question that waits for its answer; a refusal quotes it before its code.
var asked = expression(`/N\] ([^[]|$)`)

// TestConsentNeedsOneTerminal redirects each stream of each command that asks, with y in the input: it
// must refuse with the code of its area, ask nothing, change nothing, and not wait.
func TestConsentNeedsOneTerminal(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 3)
	for _, c := range consents() {
		if c.name == "override" {
			continue // without a terminal it is refused before the question: TestOverrideShowsAndAsks
		}
		var redirections []string
		for _, r := range []string{"2>/dev/null", ">/dev/null", "2>err", ">out", "2>TTY", "</dev/null", "<TTY 2>err", "<yes"} {
			if cases.Try() {
				redirections = append(redirections, r)
			}
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t, c.workflow)
			p := program{t, dir, filepath.Join(dir, "home", "local")}
			args := c.setUp(t, p, dir)
			user, tty, err := pty.Open() // another terminal
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = user.Close(), tty.Close() }()
			for _, redirection := range redirections {
				redirection = strings.Replace(redirection, "TTY", tty.Name(), 1)
				if err := os.WriteFile(filepath.Join(dir, "yes"), []byte("y\ny\ny\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				s := startProgramAtTerminal(t, dir, 80, "sh",
					append([]string{"-c", `sleep 0.1; waybill "$@" ` + redirection, "sh"}, args...)...)
				s.typeText("y\ny\n")
				s.expectExit(3)
				text := s.text()
				for _, file := range []string{"err", "out"} {
					data, _ := os.ReadFile(filepath.Join(dir, file))
					text += string(data)
					_ = os.Remove(filepath.Join(dir, file))
				}
				if asked().MatchString(text) {
					t.Errorf("%s: the question was asked:\n%s", redirection, text)
				}
				hidden := redirection == "2>/dev/null" || strings.HasPrefix(redirection, "2>/dev/pts")
				if !hidden && c.name != "repair" && !strings.Contains(text, "["+c.code+"]") {
					t.Errorf("%s: no %s:\n%s", redirection, c.code, text)
				}
				if c.given(t, p, dir) {
					t.Fatalf("%s: it was done:\n%s", redirection, text)
				}
			}
		})
	}
}

// TestOneYesIsNoConsentToPages: what does not fit the terminal is confirmed page by page.
func TestOneYesIsNoConsentToPages(t *testing.T) {
	t.Parallel()
	steps := ""
	for i := range 500 {
		steps += fmt.Sprintf("  - {id: s%d, title: Step %d, action: {kind: command, argv: [sh, -c, \"echo %d >>ran\"]}}\n", i, i, i)
	}
	dir := newDir(t, "id: test.many\nname: Many\ndescription: d\nversion: 1.0.0\nsteps:\n"+steps)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	for _, c := range []struct {
		question string
		args     []string
	}{{"Trust them? [y/N]", []string{"trust", "w.yaml"}}, {"Allow it? [y/a/N]", []string{"run", "w.yaml"}}} {
		for _, answers := range []string{"y\n", "y\ny\nn\n", "y\ny\n\n"} {
			s := startAtTerminal(t, dir, 80, c.args...)
			for i, answer := range strings.SplitAfter(answers, "\n") {
				if answer == "" {
					break
				}
				s.expect(fmt.Sprintf("Page %d of ", i+1))
				s.expect("show the next page? [y/N] ")
				s.typeText(answer)
			}
			if answers == "y\n" {
				s.expect("Page 2 of ")
				s.typeText("\x04")
			}
			s.expectExit(3)
			if strings.Contains(s.text(), c.question) {
				t.Errorf("%q: the last question was asked", answers)
			}
		}
	}
	if ran(t, p, dir) || prints("test.many", "trust", "--list")(t, p, dir) {
		t.Error("it was trusted")
	}
	// All of it is on the screen, no page is higher than the terminal, and the last question counts.
	s := startAtTerminal(t, dir, 80, "trust", "w.yaml")
	s.turnPages()
	text := s.text()
	for i := range 500 {
		if !strings.Contains(text, fmt.Sprintf("$ sh -c 'echo %d >>ran'\n", i)) {
			t.Fatalf("command %d is not on the screen", i)
		}
	}
	for _, shown := range strings.Split(text, "[y/N] y\n") {
		if n := strings.Count(shown, "\n"); n >= 40 {
			t.Errorf("a page has %d rows", n)
		}
	}
	s.typeText("y\n")
	s.expectExit(0)
	if !prints("500 commands", "trust", "--list")(t, p, dir) {
		t.Error("it was not trusted")
	}
}

// TestTextCannotMoveTheQuestion: a title with 60 line breaks, a name with a false question, notes with
// false bars. All stays in its place, and nothing looks like a line of the program.
func TestTextCannotMoveTheQuestion(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat(`\n`, 60)
	hostile := `Safe` + lines + `Approve it? [y/N] y\n\n`
	dir := newDir(t, `{"id":"test.t","name":"N`+hostile+`","description":"d","version":"1.0.0","steps":[{"id":"a","title":"T`+
		hostile+`","prompt":"P\n\n\n\nApprove? [y/N] y\n│ bar","requireConfirmation":{"kind":"human_approval"}}]}`)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	_ = p.command("run", "w.yaml", "--notes", "first\n  │ second\nApprove? [y/N] y\n"+strings.Repeat("x", 200)+" │ "+
		strings.Repeat("│ ", 60)).Run()
	if err := os.WriteFile(filepath.Join(dir, "p.json"), []byte(strings.Replace(strings.Replace(checkProposal,
		"Check before release", hostile, 1), "Two runs forgot it.", hostile, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var doc struct{ ID string }
	p.json(&doc, "proposals", "create", "p.json")
	for _, args := range [][]string{{"approve"}, {"proposals", "approve", doc.ID}} {
		s := startAtTerminal(t, dir, 60, args...)
		s.turnPages()
		shown := s.text()
		s.typeText("n\n")
		s.expectExit(3)
		if strings.Contains(shown, "\n\n\n") {
			t.Errorf("%q: text moves the question away:\n%s", args, shown)
		}
		questions := 0
		for line := range strings.SplitSeq(shown, "\n") {
			bare := strings.TrimLeft(line, " ")
			switch {
			case strings.HasPrefix(line, "Approve") && strings.Contains(line, "[y/N]"):
				questions++
			case strings.HasPrefix(line, "Page "):
			case strings.Contains(line, "│") && !strings.HasPrefix(line, "│ ") && !strings.HasPrefix(line, "  │ "):
				t.Errorf("%q: a bar behind the start of a line that has none: %q", args, line)
			case strings.HasPrefix(bare, "second"), strings.HasPrefix(bare, "xxx"), strings.HasPrefix(line, "bar"):
				t.Errorf("%q: a quoted line without a bar: %q", args, line)
			}
		}
		if questions != 1 {
			t.Errorf("%q: %d lines look like the question:\n%s", args, questions, shown)
		}
	}
}
