package source

import (
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkChecks checks the checks of a step, and warns of those that prove little (docs/design.md#checks).
func checkChecks(step problem.SourceValue, report problem.Report) {
	all := step.Member("checks")
	if step.Has("checks") && step.Has("templateCall") {
		report.Error(all, "Put the checks on a step of the template.", "the steps of the template replace this one, with its checks")
	}
	for _, at := range all.Items() {
		if at.Value.Kind() != canon.Object {
			continue
		}
		checkCommand(at, report)
		checkPlaces(at, report)
		checkExpect(at.Member("expect"), report)
		warnOfCheck(at, report)
	}
}

// checkPlaces requires places below the root of the project: the directory of a check and its pins.
func checkPlaces(at problem.SourceValue, report problem.Report) {
	folder, argv := at.Member("cwd"), at.Member("argv").Items()
	if name := folder.Value.Text(); !below(name) {
		report.Error(folder, "Write a path that is relative to the root of the project and stays below it.",
			"the cwd of a check does not lead out of the project, got %s", shape.Got(folder))
	} else if len(argv) > 0 && strings.Contains(argv[0].Value.Text(), "/") && placeholder.In(name) {
		report.Error(folder, "Write the directory, or a program without a slash.",
			"the program of the check is a path, whose directory cannot have a value")
	}
	for _, pin := range at.Member("pins").Items() {
		if name := pin.Value.Text(); name != "" && !validPin(name) {
			report.Error(pin, "Write the path of a file below the root of the project, with slashes and without . or .. in it.",
				"a pin is the path of a file in the project, got %s", shape.Got(pin))
		}
	}
}

// checkExpect requires a comparison of what stdout has at a place.
func checkExpect(at problem.SourceValue, report problem.Report) {
	stdout := at.Member("stdout")
	if stdout.Value.Kind() == canon.Object && !stdout.Has("equals") && !stdout.Has("gte") && !stdout.Has("lte") && !stdout.Has("contains") {
		report.Error(stdout, `Add "equals", "gte", "lte" or "contains".`, "the requirement on stdout compares nothing")
	}
	for _, name := range []string{"equals", "contains"} {
		if stdout.Has(name) && stdout.Member(name).Value.IsNull() {
			report.Error(stdout.Member(name), "Write the value that the check prints.", "null is no value to compare with")
		}
	}
}

// warnOfCheck warns of a check that cannot fail, that those who are checked can change, and whose output has no test
// report. Values are not known here: nothing is said about elements with placeholders.
func warnOfCheck(at problem.SourceValue, report problem.Report) {
	argv := unwrapped(textsOf(at.Member("argv").Items()))
	if len(argv) == 0 || placeholder.In(strings.Join(argv, " ")) {
		return
	}
	expect := at.Member("expect")
	program := strings.TrimSuffix(path.Base(argv[0]), ".exe")
	if why := constant(program, argv[1:]); why != "" {
		report.Warn(at.Member("argv"), "Run a command that depends on the project, such as its tests.",
			"the check proves nothing: %s", why)
	} else if script, ok := scriptOf(program, argv[1:]); ok && ignoresStatus(script) && !expect.Has("stdout") && !expect.Has("tests") {
		report.Warn(at.Member("argv"), "Remove what ignores the exit status.",
			"the check cannot fail: its script has exit status 0, whether or not its commands succeed")
	}
	tests := expect.Member("tests")
	if amount := tests.Member("min"); tests.Has("min") && amount.Value.Text() == "" && string(amount.Value.JCS()) == "0" {
		report.Warn(amount, `Write the number of tests that have to pass, at least 1.`,
			"the check passes without any test")
	}
	if expect.Has("tests") && program == "go" && len(argv) > 1 && argv[1] == "test" && !slices.Contains(argv, "-json") {
		report.Warn(at.Member("argv"), `Add "-json" after "test".`,
			"go test prints no test report without -json, so that the check never passes")
	}
	warnOfPins(at, program, argv[1:], report)
}

// warnOfPins warns of files of the project that decide what a check proves and are not pinned.
func warnOfPins(at problem.SourceValue, program string, args []string, report problem.Report) {
	pins, folder := textsOf(at.Member("pins").Items()), at.Member("cwd").Value.Text()
	if name := projectFile(program, args); name != "" && !path.IsAbs(name) && !slices.Contains(pins, path.Join(folder, name)) {
		report.Warn(at.Member("argv"), `Add "`+path.Join(folder, name)+`" to the pins of the check.`,
			"%s decides what the check proves, and is not pinned: it can be changed together with the work", path.Join(folder, name))
		return
	}
	if at.Member("expect").Has("tests") && len(pins) == 0 {
		report.Warn(at, `Add the files with the tests as "pins".`,
			"no file with tests is pinned: they can be changed together with the work")
	}
}

// wrappers are programs that run another one, with those of their options that have a value.
var wrappers = map[string]string{"env": "-u --unset -C --chdir", "nice": "-n --adjustment", "nohup": "", "time": "-o -f",
	"timeout": "-k --kill-after -s --signal", "stdbuf": "-i -o -e", "command": "", "exec": ""}

// unwrapped returns the command that wrappers run.
func unwrapped(argv []string) []string {
	for len(argv) > 0 {
		name := path.Base(argv[0])
		valued, ok := wrappers[name]
		if !ok {
			return argv
		}
		argv = argv[1:]
		for len(argv) > 0 && (strings.HasPrefix(argv[0], "-") || name == "env" && strings.Contains(argv[0], "=")) {
			skip := 1
			if slices.Contains(strings.Fields(valued), argv[0]) {
				skip = 2
			}
			argv = argv[min(skip, len(argv)):]
		}
		if name == "timeout" && len(argv) > 0 {
			argv = argv[1:] // the duration
		}
	}
	return argv
}

// shells run a script that is an argument after -c.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"}

// scriptOf returns the script that a shell runs; ok is false for another program.
func scriptOf(program string, args []string) (script string, ok bool) {
	if !slices.Contains(shells, program) {
		return "", false
	}
	for i, a := range args[:max(0, len(args)-1)] {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") {
			return strings.TrimSpace(args[i+1]), true
		}
	}
	return "", false
}

// constants are commands whose result is the same in every project.
var constants = map[string]string{"true": "true succeeds in every project", ":": ": succeeds in every project",
	"false": "false fails in every project", "echo": "echo prints its arguments, in every project",
	"printf": "printf prints its arguments, in every project", "yes": "yes prints its arguments, in every project",
	"sleep": "sleep waits, in every project", "exit": "the exit status is written in the check"}

// constant returns why the result of a command is the same in every project, "" if it may differ.
func constant(program string, args []string) string {
	if why := constants[program]; why != "" {
		return why
	}
	if len(args) == 1 && slices.Contains([]string{"--version", "--help", "-version", "version", "help"}, args[0]) {
		return program + " prints about itself, in every project"
	}
	script, ok := scriptOf(program, args)
	if !ok {
		return ""
	}
	if script == "" {
		return "its script is empty"
	}
	first, _, _ := strings.Cut(script, " ")
	if !strings.ContainsAny(script, "&|;\n`$<>()") {
		return constants[first]
	}
	return ""
}

// ignoresStatus reports that the last command of a script succeeds, whatever the ones before it did.
func ignoresStatus(script string) bool {
	for _, end := range []string{"true", ":", "exit 0"} {
		before, ok := strings.CutSuffix(strings.TrimRight(script, " \t\n;"), end)
		before = strings.TrimRight(before, " \t")
		if ok && (strings.HasSuffix(before, "||") || strings.HasSuffix(before, ";") || strings.HasSuffix(before, "\n")) {
			return !strings.Contains(script, "set -e") || strings.HasSuffix(before, "||")
		}
	}
	return false
}

// interpreters run a file that is their first argument without a dash.
var interpreters = append([]string{"python", "python3", "node", "ruby", "perl", "php", "Rscript", "deno", "bun", "tsx", "lua"}, shells...)

// projectFile returns the file of the project that says what a program does, "" if none is known. The program itself is
// fixed with the trust.
func projectFile(program string, args []string) string {
	switch {
	case program == "make" || program == "gmake":
		if i := slices.Index(args, "-f"); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return "Makefile"
	case slices.Contains([]string{"npm", "yarn", "pnpm"}, program):
		return "package.json"
	case !slices.Contains(interpreters, program):
		return ""
	}
	for _, a := range args {
		switch {
		case a == "run" && (program == "deno" || program == "bun"):
		case strings.HasPrefix(a, "-") && strings.ContainsAny(a, "cem") && !strings.HasPrefix(a, "--"):
			return "" // code or a module
		case strings.HasPrefix(a, "-"):
		default:
			return a
		}
	}
	return ""
}
