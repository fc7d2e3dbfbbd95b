// Package commandlint knows programs whose result says nothing about a project, for warnings about
// checks (docs/design.md#checks). Its tables are lints: none is complete.
package commandlint

import (
	"path"
	"slices"
	"strings"
)

// wrappers are programs that run another one, with those of their options that have a value.
var wrappers = map[string]string{"env": "-u --unset -C --chdir", "nice": "-n --adjustment", "nohup": "", "time": "-o -f",
	"timeout": "-k --kill-after -s --signal", "stdbuf": "-i -o -e", "command": "", "exec": ""}

// Unwrapped returns the command that wrappers run.
func Unwrapped(argv []string) []string {
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

// ScriptOf returns the script that a shell runs; ok is false for another program.
func ScriptOf(program string, args []string) (script string, ok bool) {
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

// Constant returns why the result of a command is the same in every project, "" if it may differ.
func Constant(program string, args []string) string {
	if why := constants[program]; why != "" {
		return why
	}
	if len(args) == 1 && slices.Contains([]string{"--version", "--help", "-version", "version", "help"}, args[0]) {
		return program + " prints about itself, in every project"
	}
	script, ok := ScriptOf(program, args)
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

// IgnoresStatus reports that the last command of a script succeeds, also where those before it failed.
func IgnoresStatus(script string) bool {
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

// ProjectFile returns the file of the project that says what a program does, "" if none is known. The program itself is
// fixed with the trust.
func ProjectFile(program string, args []string) string {
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
