package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// helpOf returns what a command prints with --help in a pipe.
func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var out, errOut bytes.Buffer
	args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
	if status := run(args, strings.NewReader(""), &out, &errOut, nil); status != 0 || errOut.Len() > 0 {
		t.Errorf("%s --help: exit status %d, %s", cmd.CommandPath(), status, &errOut)
	}
	return out.String()
}

// TestHelpIsComplete: every command and group has a short and a long description and examples that
// exist, and --help prints all of it.
func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || len(cmd.Short) > 60 {
			t.Errorf("%s: Short %q wants one line without a full stop", path, cmd.Short)
		}
		if len(cmd.Long) < 60 {
			t.Errorf("%s: Long is too short", path)
		}
		for line := range strings.Lines(cmd.Long) {
			if len([]rune(line)) > 121 {
				t.Errorf("%s: a line of %d characters in its help", path, len([]rune(line)))
			}
		}
		help := helpOf(t, cmd)
		if !strings.Contains(words(help), words(cmd.Long)) ||
			!strings.Contains(help, "\nExamples:\n"+cmd.Example+"\n") {
			t.Errorf("%s --help lacks the description or the examples", path)
		}
		checkWidth(t, cmd, help, page.HelpColumns)
	})
}

// words returns a text without its line breaks and indentation.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// checkWidth: no line of help is wider than the width. In a narrow terminal, examples and single words may be.
func checkWidth(t *testing.T, cmd *cobra.Command, help string, width int) {
	t.Helper()
	asIs := strings.Split(cmd.Example+"\n"+cmd.Long, "\n")
	for line := range strings.SplitSeq(help, "\n") {
		unit := strings.TrimSpace(line)
		isWhole := width < page.HelpColumns && (!strings.Contains(unit, " ") ||
			strings.HasPrefix(line, "  ") && slices.Contains(asIs, line))
		if page.TextWidth(line) > width && !isWhole {
			t.Errorf("%s --help: %d columns at a width of %d: %s", cmd.CommandPath(), page.TextWidth(line), width, line)
		}
	}
}

// valueName is the form of the name of a flag's value in the help.
var valueName = expression(`^[A-Z][A-Z_=:|]+$|^N$`)

// TestFlagTexts: flags name their values, numbers and times say their unit and what they are by default, and
// no text has the backquotes by which pflag takes a part of it for the name of the value.
func TestFlagTexts(t *testing.T) {
	t.Parallel()
	root := newRoot(&cli.App{})
	common := root.PersistentFlags()
	walk(root, func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, text := pflag.UnquoteUsage(f)
			isSwitch := f.NoOptDefVal != ""
			if isSwitch != (value == "") || !isSwitch && !valueName().MatchString(value) {
				t.Errorf("%s --%s: %q is no name of a value", path, f.Name, value)
			}
			if strings.Contains(f.Usage, "`") || text == "" && !f.Hidden {
				t.Errorf("%s --%s: wrong text %q", path, f.Name, f.Usage)
			}
			if isAmount := value == "N" || value == "DURATION"; isAmount && f.DefValue == "0" &&
				!regexp.MustCompile(`default|; 0 |from 1 `).MatchString(text) {
				t.Errorf("%s --%s: %q says no default", path, f.Name, text)
			}
		})
		help := helpOf(t, cmd)
		if strings.Contains(help, "`") {
			t.Errorf("%s --help prints a backquote", path)
		}
		if !cmd.HasParent() {
			return
		}
		line := "\nFlags of every command, such as --store and --json: 'waybill help flags'\n"
		if n := strings.Count(help, line); n != 1 {
			t.Errorf("%s --help names the flags of every command in %d lines", path, n)
		}
		common.VisitAll(func(f *pflag.Flag) {
			listed := regexp.MustCompile(`\n      --` + f.Name + ` ([A-Z]+ )? `)
			if cmd.LocalFlags().Lookup(f.Name) == nil && listed.MatchString(help) {
				t.Errorf("%s --help lists --%s, a flag of every command", path, f.Name)
			}
		})
	})
	for _, call := range [][]string{{"help"}, {"--help"}, {"help", "flags"}} {
		var out bytes.Buffer
		if status := run(call, strings.NewReader(""), &out, &out, nil); status != 0 {
			t.Errorf("waybill %v: exit status %d", call, status)
		}
		common.VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(out.String(), " --"+f.Name+" ") {
				t.Errorf("waybill %v does not list --%s", call, f.Name)
			}
		})
	}
}

// TestExamplesParse: every command and group has two examples or more, the first of which calls it, and all
// are command lines that the program accepts.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		calls := callsIn(cmd.Example)
		if lines := strings.Count(cmd.Example, "\n") + 1; lines < 2 || len(calls) < lines {
			t.Errorf("%s: %d calls in %d examples, want 2 or more", path, len(calls), lines)
			return
		}
		if first := strings.Join(calls[0], " "); !strings.HasPrefix("waybill "+first+" ", path+" ") {
			t.Errorf("%s: its first example calls %q", path, first)
		}
		for _, call := range calls {
			if err := parse(call); err != nil {
				t.Errorf("%s: example %q: %v", path, call, err)
			}
		}
	})
}

// parse parses a command line as the program does before it executes a command.
func parse(args []string) error {
	root := newRoot(&cli.App{})
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	return cmd.ValidateFlagGroups()
}

// TestOverviewFitsATerminal: without a command the program prints commands that exist, and says where all are listed,
// within the 24 lines and 80 columns of a terminal, the next prompt included.
func TestOverviewFitsATerminal(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	if status := run([]string{}, strings.NewReader(""), &out, &errOut, nil); status != 0 || errOut.Len() > 0 {
		t.Fatalf("exit status %d, %s", status, &errOut)
	}
	text := out.String()
	if lines := strings.Count(text, "\n"); lines > 23 {
		t.Errorf("%d lines:\n%s", lines, text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if page.TextWidth(line) > 80 {
			t.Errorf("%d columns: %s", page.TextWidth(line), line)
		}
	}
	calls := callsIn(regexp.MustCompile(`(?m)^  (waybill .*?)  +.*$`).ReplaceAllString(text, "$1"))
	if len(calls) < 8 || strings.Join(calls[0], " ") != "run wr.demo" {
		t.Errorf("the calls are %q", calls)
	}
	for _, call := range calls {
		if err := parse(call); err != nil {
			t.Errorf("%q: %v", call, err)
		}
	}
	if !strings.Contains(text, "'waybill help' lists all commands") {
		t.Errorf("where all commands are listed is missing:\n%s", text)
	}
}

// shellWord matches a word of a shell, with quoted parts, or an operator.
var shellWord = expression(`(?:[^\s'"|&;<>()]|'[^']*'|"[^"]*")+|[|&;<>()]|\n`)

// callsIn returns the arguments of the calls of waybill in lines of a shell.
func callsIn(lines string) (calls [][]string) {
	within := false
	for _, word := range shellWord().FindAllString(lines, -1) {
		switch {
		case word == "waybill":
			calls, within = append(calls, []string{}), true
		case strings.ContainsAny(word[:1], "|&;<>()\n"):
			within = false
		case within:
			at := &calls[len(calls)-1]
			*at = append(*at, strings.NewReplacer("'", "", `"`, "").Replace(word))
		}
	}
	return calls
}

// TestCallsIn: calls are found in pipes, behind substitutions and in quotes.
func TestCallsIn(t *testing.T) {
	t.Parallel()
	got := callsIn("waybill a 'b | c' | waybill d\nx <(waybill e) > f; echo waybill g")
	var lines []string
	for _, call := range got {
		lines = append(lines, strings.Join(call, ","))
	}
	if want := "a,b | c;d;e;g"; strings.Join(lines, ";") != want {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// TestOneCommandIsBuilt: a call that names a command first gets a tree with that command only, in which each of its commands
// has the help and the annotations that it has in the whole tree.
func TestOneCommandIsBuilt(t *testing.T) {
	t.Parallel()
	whole := map[string]string{}
	about := func(cmd *cobra.Command) string { return fmt.Sprint(cmd.Annotations) + helpOf(t, cmd) }
	walk(newRoot(&cli.App{}), func(cmd *cobra.Command) { whole[cmd.CommandPath()] = about(cmd) })
	for _, c := range commands {
		if name := c.build(&cli.App{}).Name(); name != c.name {
			t.Errorf("the command %q is listed as %q", name, c.name)
		}
		a := &cli.App{Process: cli.Process{Args: []string{c.name, "--json"}}}
		root, found := newRoot(a), 0
		walk(root, func(cmd *cobra.Command) {
			if !cmd.HasParent() || cmd.Name() == "help" {
				return
			}
			if found++; about(cmd) != whole[cmd.CommandPath()] {
				t.Errorf("%s has another help when it is called", cmd.CommandPath())
			}
		})
		if all := len(root.Commands()); found == 0 || (all > 2) != (c.name == "completion") { // with help
			t.Errorf("%s: a call has %d first-level commands", c.name, all)
		}
	}
	for _, args := range [][]string{nil, {"help"}, {"--json", "runs"}, {"run s"}, {"__complete", "runs"}, {"-h"}} {
		if only := called(args); only != "" {
			t.Errorf("%q calls %q only", args, only)
		}
	}
}
