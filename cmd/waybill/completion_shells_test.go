//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// oddText has what a shell would execute or expand, and what would break a line of the screen or of the completions.
const oddText = `$(touch ran) ` + "`touch ran`" + ` "; touch ran; ' : | touch ran # %F{red}%n {a,b} ~ * \x` + "\u202e"

// oddFlow is a workflow with oddText in its name and in the title of its step.
const oddFlow = `
id: test.odd
name: "N $(touch ran) ` + "`touch ran`" + ` \"; touch ran; ' : %F{red} \u202e \n--injected\tx"
description: d
version: 1.0.0
steps:
  - {id: read, title: "S $(touch ran) ` + "`touch ran`" + ` \"; touch ran; ' : %F{red} \u202e", prompt: Read it.}
`

// shellCase is a line that is typed in a shell, and what TAB is expected to do.
type shellCase struct {
	line string
	// list is a candidate that must be listed, among others. Without it one candidate is expected.
	list string
	// word is the text behind the line if there is one candidate.
	word string
}

// shellCases returns the lines for a store whose latest run is run.
func shellCases(run string) []shellCase {
	return []shellCase{
		{line: "waybill ru", list: "runs"},
		{line: "waybill workf", word: "lows"},
		{line: "waybill runs list --st", list: "--status"},
		{line: "waybill runs list --wor", list: "--workflow"},
		{line: "waybill runs list --stat", word: "us"},
		{line: "waybill runs list --status c", list: "complete_with_gaps"},
		{line: "waybill runs list --status=c", list: "cancelled"},
		{line: "waybill runs list --status in_p", word: "rogress"},
		{line: "waybill runs list --status=in_p", word: "rogress"},
		{line: "waybill runs show ", list: run},
		{line: "waybill runs show @l", word: "ast"},
		{line: "waybill runs show " + run[:7], word: run[7:]},
		{line: "waybill continue --run ", list: "@last"},
		{line: "waybill continue --run @last --at re", word: "ad"},
		{line: "waybill start ", list: "test.odd"},
		{line: "waybill start test.o", word: "dd"},
		{line: "waybill config set autonomy f", list: "full_auto_never_stop"},
	}
}

// shellDir returns a directory with a workflow and a store with two runs, all with odd titles, and the short id of the latest.
func shellDir(t *testing.T) (dir, run string) {
	t.Helper()
	dir = newDir(t, oddFlow)
	flows := filepath.Join(dir, ".waybill", "workflows")
	if err := errorsOf(os.MkdirAll(flows, 0o700), os.WriteFile(filepath.Join(flows, "odd.yaml"), []byte(oddFlow), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"A $(touch ran)", "B " + oddText} { // quotes without an end may keep a text from being executed
		inDir(t, dir, "start", "w.yaml", "--title", title)
	}
	return dir, candidatesOf(t, dir, "waybill runs show ")[1]
}

// inDir runs the program in a directory with its store, and returns what it prints.
func inDir(t *testing.T, dir string, args ...string) string {
	t.Helper()
	s := terminalOf(t, dir, "waybill", args...)
	out, err := s.cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v %s", args, err, out)
	}
	return string(out)
}

// candidatesOf returns the completions of the last word of a line that the program knows and that begin as the word does.
func candidatesOf(t *testing.T, dir, line string) (all []string) {
	t.Helper()
	args := strings.Split(line, " ")[1:]
	_, word, isValue := strings.Cut(args[len(args)-1], "=")
	if !isValue {
		word = args[len(args)-1]
	}
	for l := range strings.Lines(inDir(t, dir, append([]string{cobra.ShellCompRequestCmd}, args...)...)) {
		c, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
		if strings.HasPrefix(c, word) && !strings.HasPrefix(c, ":") {
			all = append(all, c)
		}
	}
	return all
}

// expectCandidates compares the candidates that a shell has for a line with those of the program.
func expectCandidates(t *testing.T, dir string, c shellCase, got []string) {
	t.Helper()
	want := candidatesOf(t, dir, c.line)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || !slices.Contains(got, c.list) {
		t.Errorf("%q has the candidates %q, want %q with %q", c.line, got, want, c.list)
	}
}

// expectNothingRan checks that no text was executed, and that the store is as the commands left it.
func expectNothingRan(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a title was executed")
	}
	if got := len(candidatesOf(t, dir, "waybill runs show ")); got != 3 {
		t.Errorf("there are %d candidates for a run, want @last and two runs", got)
	}
	inDir(t, dir, "verify")
}

// interactive is a shell at a terminal.
type interactive struct {
	program string
	args    []string
	file    string // without it completion does not work
	setup   string // makes it list all candidates at once, one or more to a line, and load the completion
}

var interactives = map[string]interactive{
	"bash": {"bash", []string{"--norc", "--noprofile", "-i"}, "/usr/share/bash-completion/bash_completion",
		"bind 'set completion-display-width 0'; bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'; " +
			"bind 'set completion-query-items 0'; bind 'set page-completions off'; " +
			". /usr/share/bash-completion/bash_completion; . <(waybill completion bash); PS1='%%'; echo set''up\n"},
	"zsh": {"zsh", []string{"-f", "-i"}, "",
		"autoload -Uz compinit; compinit -u -D; unsetopt LIST_AMBIGUOUS; LISTMAX=1000; . <(waybill completion zsh); PS1='%%%%'; echo set''up\n"},
}

// listed matches the end of a candidate in a list: what follows is its description.
var listed = expression(` +(\(|-- ).*$`)

// TestCompletionInAShell: TAB in bash and zsh lists the candidates of the program, and completes the word where there is one
// candidate; nothing of the titles is executed, and none changes the line.
func TestCompletionInAShell(t *testing.T) {
	t.Parallel()
	for name, shell := range interactives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := exec.LookPath(shell.program)
			if err == nil && shell.file != "" {
				_, err = os.Stat(shell.file)
			}
			if err != nil {
				t.Skipf("%s with its completion is not installed: %v", name, err)
			}
			dir, run := shellDir(t)
			s := startProgramAtTerminal(t, dir, 160, shell.program, shell.args...)
			s.typeText(shell.setup)
			s.expect("setup")
			s.expect("%%")
			for _, c := range shellCases(run) {
				s.pressTab(dir, c)
			}
			s.typeText("waybill runs show " + run[:7] + "\t\n") // the completed line is a command
			s.expect("B $(touch ran)")
			s.expect("%%")
			s.typeText("exit\n")
			s.expectExit(0)
			if strings.ContainsAny(s.text(), "\u202e") {
				t.Errorf("the screen has a bidirectional control:\n%s", s.text())
			}
			expectNothingRan(t, dir)
		})
	}
}

// pressTab types a line and TAB, compares what the shell shows, and removes the line.
func (s *terminalSession) pressTab(dir string, c shellCase) {
	s.Helper()
	s.typeText(c.line + "\t")
	if c.list == "" {
		s.expect(c.line + c.word + " ")
	} else {
		s.expect(c.line)
		from := s.from
		s.expect(strings.TrimSpace(c.line)) // again, behind the list
		expectCandidates(s.T, dir, c, shownCandidates(s.text()[from:]))
	}
	s.typeText("\x15\n") // an empty line
	s.expect("%%")
}

// shownCandidates returns the candidates in what follows a line on the screen.
func shownCandidates(text string) (all []string) {
	lines := strings.Split(text, "\n")
	for _, l := range lines[1:] {
		l, _, _ = strings.Cut(l, "\r")
		if strings.HasPrefix(l, "%%") {
			break
		}
		all = append(all, strings.Fields(listed().ReplaceAllString(l, ""))...)
	}
	return all
}

// TestCompletionInFish: fish has the candidates of the program, and nothing of the titles is executed.
func TestCompletionInFish(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("fish"); err != nil {
		t.Skipf("fish is not installed: %v", err)
	}
	dir, run := shellDir(t)
	cases := shellCases(run)
	script := "waybill completion fish | source\n"
	for _, c := range cases {
		script += "complete -C '" + c.line + "'\necho ----\n"
	}
	s := terminalOf(t, dir, "fish", "--no-config", "-c", script)
	out, err := s.cmd.Output()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	answers := strings.Split(string(out), "----\n")
	if len(answers) != len(cases)+1 {
		t.Fatalf("%d answers to %d lines:\n%s", len(answers)-1, len(cases), out)
	}
	for i, c := range cases {
		var got []string
		word := c.line[strings.LastIndex(c.line, " ")+1:]
		flag, _, isValue := strings.Cut(word, "=")
		for l := range strings.Lines(answers[i]) {
			candidate, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			if isValue {
				candidate = strings.TrimPrefix(candidate, flag+"=")
			}
			got = append(got, candidate)
		}
		if c.list == "" {
			if want := strings.TrimPrefix(word, flag+"=") + c.word; !slices.Equal(got, []string{want}) {
				t.Errorf("%q has the candidates %q, want %q", c.line, got, want)
			}
			continue
		}
		expectCandidates(t, dir, c, got)
	}
	if strings.ContainsAny(string(out), "\u202e\x1b") {
		t.Errorf("the candidates have a control character:\n%q", out)
	}
	expectNothingRan(t, dir)
}
