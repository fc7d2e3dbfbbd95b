//go:build linux

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminalSession is a person at a terminal with the program in front of them.
type terminalSession struct {
	*testing.T
	tty  *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex
	all  strings.Builder
	from int // length of the text that expect has consumed
	done chan struct{}
}

// newDir returns a new directory with an empty home and one workflow file.
func newDir(t *testing.T, workflow string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.yaml"), []byte(workflow), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startAtTerminal starts the program at a terminal of so many columns.
func startAtTerminal(t *testing.T, dir string, columns uint16, args ...string) *terminalSession {
	t.Helper()
	return startProgramAtTerminal(t, dir, columns, "waybill", args...)
}

// startProgramAtTerminal is startAtTerminal with another program.
func startProgramAtTerminal(t *testing.T, dir string, columns uint16, name string, args ...string) *terminalSession {
	t.Helper()
	s := terminalOf(t, dir, name, args...)
	s.start(columns)
	return s
}

// terminalOf is a terminal at which a program can be started.
func terminalOf(t *testing.T, dir, name string, args ...string) *terminalSession {
	t.Helper()
	s := &terminalSession{T: t, cmd: exec.Command(name, args...), done: make(chan struct{})}
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "WAYBILL_HOME="+dir+"/home", "XDG_CONFIG_HOME="+dir, "TERM=xterm",
		"NO_COLOR=", "VISUAL=", "EDITOR="+dir+"/editor", "WAYBILL_PAGER=cat")
	return s
}

// start starts the program.
func (s *terminalSession) start(columns uint16) {
	s.Helper()
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
		s.Fatal(err)
	}
	go func() {
		defer close(s.done)
		buf := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buf)
			s.mu.Lock()
			s.all.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	s.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.tty.Close() })
}

var (
	drawnOver = expression(`[^\n]*\r\x1b\[2K`)
	escapes   = expression(`\x1b\[[0-9;?]*[a-zA-Z]`)
)

// text returns the text of the screen, without colors and without overwritten parts.
func (s *terminalSession) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.ReplaceAll(s.all.String(), "\r\n", "\n")
	return escapes().ReplaceAllString(drawnOver().ReplaceAllString(text, ""), "")
}

// expect waits until new output contains the text, and consumes the output up to it.
func (s *terminalSession) expect(what string) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		text := s.text()
		if i := strings.Index(text[min(s.from, len(text)):], what); i >= 0 {
			s.from += i + len(what)
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("no %q on the screen:\n%s", what, text)
		}
	}
}

// turnPages answers yes to the question after each page and returns when another question is asked.
func (s *terminalSession) turnPages() {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text := s.text()
		if len(text) <= s.from || !strings.HasSuffix(text, "/N] ") {
			continue
		}
		s.from = len(text)
		if !pageQuestion().MatchString(text[strings.LastIndex(text, "\n")+1:]) {
			return
		}
		s.typeText("y\n")
	}
	s.Fatalf("no question on the screen:\n%s", s.text())
}

// pageQuestion matches the question after a page that is not the last one.
var pageQuestion = expression(`^Page [0-9]+ of [0-9]+: show the next page\? \[y/N\] $`)

func (s *terminalSession) typeText(text string) {
	s.Helper()
	time.Sleep(30 * time.Millisecond) // a person is slower than the question
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.Fatal(err)
	}
}

// expectExit waits for the end and compares the exit status.
func (s *terminalSession) expectExit(status int) {
	s.Helper()
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.Fatalf("the program waits instead of ending with exit status %d:\n%s", status, s.text())
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Fatal(err)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.Fatalf("exit status %d, want %d:\n%s", got, status, s.text())
	}
}

const personFlow = `
id: test.person
name: Person
description: d
version: 1.0.0
steps:
  - {id: read, title: Read it, prompt: "Read every line of it, from the first to the last, and say what you think of it."}
  - {id: note, title: Write it down, prompt: Say what was decided., notesRequired: true, validationCriteria: [{type: contains, value: because, message: Give the reason}]}
  - {id: ask, title: Deploy, prompt: Deploy it., inputs: [{contextKey: target, reason: needs_user_choice, choiceKind: scope_boundary, choices: [north, south], description: Where to}]}
`

func TestRunAtTerminal(t *testing.T) {
	t.Parallel()
	s := startAtTerminal(t, newDir(t, personFlow), 50, "run", "w.yaml")
	s.expect("Person\n")
	s.expect("[1/3] Read it")
	s.expect("Read every line of it, from the first to the\n  last, and say")
	s.expect("Enter for none")
	s.expect("›")
	s.typeText("looks good\n")
	s.expect("✓")
	s.expect("[2/3] Write it down")
	s.expect("Notes, required")
	s.typeText("we ship it\n")
	s.expect("Not accepted")
	s.expect("Give the reason")
	s.expect("→")
	s.expect("›")
	s.typeText("we ship it, because it works\n")
	s.expect("[3/3] Deploy")
	s.expect("Where to (target)")
	s.expect("1 north")
	s.typeText("3\n")
	s.expect("Type a number from 1 to 2")
	s.typeText("2\n")
	s.expect("Enter for none")
	s.typeText("\n")
	s.expect("✓ Person is complete")
	s.expect("3 steps in")
	s.expectExit(0)
	for _, line := range strings.Split(s.text(), "\n") {
		if n := len([]rune(line)); n > 50 {
			t.Errorf("a line of %d characters on 50 columns: %q", n, line)
		}
	}
}

func TestCtrlCLeavesRunContinuable(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	s := startAtTerminal(t, dir, 100, "run", "w.yaml")
	s.expect("›")
	s.typeText("done\n")
	s.expect("[2/3]")
	s.expect("›")
	s.typeText("half a thou\x03")
	s.expect(`interrupted at step 2 of 3, "Write it down"`)
	s.expect("waybill run --run ")
	s.expectExit(1)
	again := startAtTerminal(t, dir, 100, "run", "--run", "@last", "--notes", "because")
	again.expect("1 done before")
	again.expect("[2/3]")
	again.expect("[3/3]")
	again.typeText("1\n")
	again.expectExit(0)
	if strings.Contains(again.text(), "[1/3]") {
		t.Error("an acknowledged step was asked again")
	}
}

func TestCtrlDLeavesRunContinuable(t *testing.T) {
	t.Parallel()
	s := startAtTerminal(t, newDir(t, personFlow), 80, "run", "w.yaml")
	s.expect("›")
	s.typeText("\x04")
	s.expect("you left the run at step 1 of 3")
	s.expectExit(3)
}

func TestNotesFromTheEditor(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	script := "#!/bin/sh\n{ echo 'because of this:'; echo; echo '- one'; cat \"$1\"; } >\"$1.new\" && mv \"$1.new\" " +
		"\"$1\"\n"
	if err := os.WriteFile(filepath.Join(dir, "editor"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("›")
	s.typeText("e\n")
	s.expect("› because of this:")
	s.expect("› - one")
	s.expect("[2/3]")
	s.expect("›")
	s.typeText("\n")
	s.expect("› because of this:")
	s.expect("[3/3]")
	s.typeText("south\n")
	s.expect("Enter for none")
	s.typeText("first\n\nthird\n") // pasted
	s.expectExit(0)
	run := struct{ Steps []struct{ Notes string } }{}
	program{t, dir, filepath.Join(dir, "home", "local")}.json(&run, "runs", "show", "@last")
	if run.Steps[0].Notes != "because of this:\n\n- one" || run.Steps[2].Notes != "first\n\nthird" {
		t.Errorf("recorded %q", run.Steps)
	}
}

const commandFlow = `
id: test.command
name: Commands
description: d
version: 1.0.0
steps:
  - {id: one, title: First, action: {kind: command, argv: [sh, -c, "echo one; (: </dev/tty) 2>&- && echo a terminal; printf 'two\\rthree\\n'; printf '\\033[2J\\033[31mred\\033[0m'"]}}
  - {id: wait, title: Wait, action: {kind: command, argv: [sh, -c, "echo $$ >pid; exec sleep 60"]}}
`

func TestTrustAtTheTerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, commandFlow)
	s := startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("2 commands that are not trusted yet")
	s.expect("echo one")
	s.expect("[y/a/N]")
	s.typeText("\n")
	s.expect("WORKFLOW_UNTRUSTED")
	s.expectExit(3)
	if list, _ := os.ReadDir(filepath.Join(dir, "home")); len(list) > 0 {
		t.Errorf("after a refusal the store has %v", list)
	}
	s = startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("[y/a/N]")
	s.typeText("a\n")
	s.expect("│ one\n  │ three\n  │ red\n  ✓")
	s.expect("[2/2] Wait")
	s.typeText("\x03")
	s.expect("interrupted at step 2 of 2")
	s.expectExit(1)
	s = startAtTerminal(t, dir, 80, "run", "--run", "@last")
	s.expect("[2/2] Wait")
	s.expect("$ sh -c") // trusted from now on
	s.typeText("\x03")
	s.expectExit(1)
}

// After Ctrl-C the spinner shows that the command is being stopped.
func TestCtrlCShowsThatCommandIsStopping(t *testing.T) {
	t.Parallel()
	s := startAtTerminal(t, newDir(t, strings.ReplaceAll(commandFlow, `"echo $$ >pid; exec sleep 60"`,
		`"trap 'sleep 1; exit 1' TERM; echo ready; while :; do sleep 0.1; done"`)), 80, "run", "w.yaml", "--trust")
	s.expect("│ ready")
	s.typeText("\x03")
	s.expect("stopping the command; Ctrl-C again exits immediately")
	s.expectExit(1)
	if text := s.text(); strings.Contains(text, "stopping") || !strings.Contains(text, "interrupted at step 2 of 2") {
		t.Errorf("shown at the end:\n%s", text)
	}
}

// Input typed while a command runs must not acknowledge the next step.
func TestTypeAheadIsDiscarded(t *testing.T) {
	t.Parallel()
	s := startAtTerminal(t, newDir(t, strings.ReplaceAll(commandFlow, `"echo $$ >pid; exec sleep 60"]}}`,
		`"sleep 0.5"]}}`+"\n  - {id: last, title: Last, prompt: Sure.}\n")), 80, "run", "w.yaml", "--trust")
	s.expect("[2/3] Wait")
	s.typeText("\n\n")
	s.expect("[3/3] Last")
	s.expect("›")
	time.Sleep(200 * time.Millisecond) // early input would have been used by now
	s.typeText("yes\n")
	s.expectExit(0)
	if !strings.Contains(s.text(), "› yes") {
		t.Error("the step was acknowledged before it was shown")
	}
}
