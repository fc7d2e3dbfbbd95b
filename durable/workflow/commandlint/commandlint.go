// Package commandlint knows programs whose result says nothing about a project, for warnings about
// checks (docs/design.md#checks). Its tables are lints: none is complete.
package commandlint

import (
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// wrappers are programs that run another one, with those of their options that have a value.
var wrappers = map[string]string{"env": "-u --unset -C --chdir", "nice": "-n --adjustment", "nohup": "", "time": "-o -f",
	"timeout": "-k --kill-after -s --signal", "stdbuf": "-i -o -e", "command": "", "exec": "-a", "builtin": "", "busybox": "",
	"sudo": "-u --user -g --group -h --host -p --prompt -C -D -R -T", "doas": "-u -C", "setsid": "", "ionice": "-c -n",
	"xargs": "-I -n -P -L -d -a -s -E --max-args --max-procs --arg-file --delimiter"}

// Unwrapped returns the command that wrappers run.
func Unwrapped(argv []string) []string {
	for len(argv) > 0 {
		name := Program(argv[0])
		valued, ok := wrappers[name]
		if !ok {
			return argv
		}
		argv = argv[1:]
		if name == "command" && len(argv) > 0 && strings.EqualFold(argv[0], "-v") {
			return append([]string{"which"}, argv[1:]...)
		}
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

// Program is the name of a program without its folder.
func Program(name string) string { return strings.TrimSuffix(path.Base(name), ".exe") }

// shells run a script that is an argument after -c.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// scriptOf returns the script that a shell runs, and whether its first failure ends it; ok is false for
// another program.
func scriptOf(program string, args []string) (script string, errexit, ok bool) {
	if !slices.Contains(shells, program) {
		return "", false, false
	}
	for i, a := range args {
		if !strings.HasPrefix(a, "-") || i+1 == len(args) {
			break
		}
		short := !strings.HasPrefix(a, "--")
		errexit = errexit || short && strings.Contains(a, "e")
		if short && strings.HasSuffix(a, "c") {
			return args[i+1], errexit, true
		}
	}
	return "", false, false
}

// Constant returns why the result of a command is the same in every project, "" if it may differ.
func Constant(argv []string) string { return argvEffect(argv, false, false, 0).why }

// CannotFail reports that the exit status of a command is 0, whether or not the commands in it succeed.
func CannotFail(argv []string) bool { return argvEffect(argv, false, false, 0).status == succeeds }

// constants are programs that succeed and say nothing about a project, with what they do instead.
var constants = map[string]string{"true": "succeeds", ":": "succeeds", "echo": "prints its arguments",
	"printf": "prints its arguments", "yes": "prints its arguments", "seq": "prints numbers", "sleep": "waits", "wait": "waits",
	"pwd": "prints a folder", "date": "prints the time", "id": "prints the user", "whoami": "prints the user", "groups": "prints the user",
	"uname": "prints the system", "hostname": "prints the computer", "arch": "prints the system", "nproc": "prints the system",
	"uptime": "prints the time", "printenv": "prints the environment", "which": "looks for a program", "type": "looks for a program",
	"touch": "makes the file that it names", "basename": "prints its arguments", "dirname": "prints its arguments", "cd": "changes the folder",
	"set": "changes the shell", "export": "changes the shell", "unset": "changes the shell", "umask": "changes the shell", "clear": "prints nothing"}

// filters are programs that succeed when they read what another program prints.
var filters = []string{"tee", "cat", "head", "tail", "sort", "uniq", "wc", "tr", "cut", "nl", "fold"}

// about returns why a program proves nothing, "" for one that is not in the tables. It succeeds then.
func about(program string, args []string) string {
	if what := constants[program]; what != "" && (program != "wait" || len(args) == 0) {
		return program + " " + what + ", in every project"
	}
	operands := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	reads := slices.Contains(shells, program) || slices.Contains(interpreters, program)
	switch {
	case len(args) == 1 && slices.Contains([]string{"--version", "--help", "-version", "version", "help"}, args[0]):
		return program + " prints about itself, in every project"
	case program == "ls" && (len(operands) == 0 || len(operands) == 1 && operands[0] == "."):
		return "ls lists a folder, in every project"
	case program == "cat" && len(operands) > 0:
		return "cat prints a file, which can be written together with the work"
	case program == "cat":
		return "cat prints its input, which is empty"
	case reads && (len(args) == 0 || len(args) == 1 && (args[0] == "-" || args[0] == "-s")):
		return program + " has no script: it reads its input, which is empty"
	case hasEmptyBody(program, args):
		return "the program for " + program + " does nothing"
	}
	return dryRun(program, args)
}

// bodyFlags are the options before the text of a program, by interpreter.
var bodyFlags = map[string]string{"python": "-c", "python3": "-c", "node": "-e --eval -p", "ruby": "-e", "perl": "-e", "php": "-r", "lua": "-e",
	"Rscript": "-e", "bun": "-e", "tsx": "-e", "powershell": "-c -Command", "pwsh": "-c -Command"}

// emptyBodies are texts of programs that do nothing; emptyPrint matches those that print what is written in them.
var (
	emptyBodies = []string{"", "pass", "0", "1", "None", "nil", "true", "exit", "exit 0", "exit()", "exit(0)", "quit()", "sys.exit()", "sys.exit(0)",
		"import sys; sys.exit()", "import sys; sys.exit(0)", "process.exit()", "process.exit(0)", "os._exit(0)", "import os; os._exit(0)"}
	emptyPrint = pattern.New(`^(?:print|console\.log|puts|say|echo)[ (]*(?:'[^'$]*'|"[^"$#{]*"|[0-9.]*)[ )]*$`)
)

// hasEmptyBody reports that an interpreter runs a text that does nothing.
func hasEmptyBody(program string, args []string) bool {
	flags := strings.Fields(bodyFlags[program])
	i := slices.IndexFunc(args, func(a string) bool { return slices.Contains(flags, a) })
	if i < 0 || i+1 >= len(args) {
		return false
	}
	text := strings.Trim(args[i+1], "; \t\n")
	return slices.Contains(emptyBodies, text) || emptyPrint.MatchString(text)
}

// makeDryRun matches options of make in one word that has n.
var makeDryRun = pattern.New(`^-[kisrRBwe]*n[kisrRBwen]*$`)

// dryRun returns why a program runs nothing with its options, "" if it does.
func dryRun(program string, args []string) string {
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(options, a) })
	}
	found := false
	switch {
	case program == "make" || program == "gmake":
		found = has("--dry-run", "--just-print", "--recon") || slices.ContainsFunc(args, makeDryRun.MatchString)
	case program == "go" && len(args) > 0 && args[0] == "test":
		found = has("-n", "-list") || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-list=") })
	case IsTestRunner(program, args):
		found = has("--collect-only", "--co", "--listTests", "--dry-run", "--no-run")
	}
	if !found {
		return ""
	}
	return program + " runs nothing with its options"
}

// interpreters run a file that is their first argument without a dash.
var interpreters = append([]string{"python", "python3", "node", "ruby", "perl", "php", "Rscript", "deno", "bun", "tsx", "lua"}, shells...)

// runners are programs that run the tests of a project, with the words that they need for it: the first arguments,
// or any one of them behind a |. "" needs none.
var runners = map[string][]string{"pytest": {""}, "py.test": {""}, "go": {"test"}, "cargo": {"test", "nextest"}, "npm": {"test", "t", "run test"},
	"yarn": {"test", "run test"}, "pnpm": {"test", "t", "run test"}, "bun": {"test"}, "deno": {"test"}, "jest": {""}, "vitest": {""}, "mocha": {""},
	"ava": {""}, "bats": {""}, "prove": {""}, "rspec": {""}, "phpunit": {""}, "ctest": {""}, "tox": {""}, "nox": {""}, "mvn": {"test", "verify"},
	"mvnw": {"test", "verify"}, "gradle": {"test", "check"}, "gradlew": {"test", "check"}, "dotnet": {"test"}, "mix": {"test"}, "swift": {"test"},
	"sbt": {"test"}, "rake": {"test"}, "rails": {"test"}, "gotestsum": {""}, "nextest": {""}}

// IsTestRunner reports that a program runs the tests of a project.
func IsTestRunner(program string, args []string) bool {
	switch {
	case (program == "python" || program == "python3") && len(args) > 1 && args[0] == "-m":
		return args[1] == "pytest" || args[1] == "unittest"
	case program == "node":
		return slices.Contains(args, "--test")
	case (program == "npx" || program == "bunx") && len(args) > 0:
		return IsTestRunner(args[0], args[1:])
	case (program == "bundle" || program == "poetry" || program == "uv" || program == "pipenv") && len(args) > 1:
		return IsTestRunner(args[1], args[2:]) // behind exec or run
	}
	line := strings.Join(args, " ")
	return slices.ContainsFunc(runners[program], func(words string) bool {
		return words == "" || line == words || strings.HasPrefix(line, words+" ") || strings.HasPrefix(line, words+":")
	})
}

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
	case !slices.Contains(interpreters, program) || slices.Contains(args, "--test"):
		return ""
	}
	for _, a := range args {
		switch {
		case a == "run" && (program == "deno" || program == "bun"):
		case strings.HasPrefix(a, "-") && strings.ContainsAny(a, "cem") && !strings.HasPrefix(a, "--"):
			return "" // code or a module
		case strings.HasPrefix(a, "-"):
		case a == "test" && (program == "deno" || program == "bun"):
			return ""
		default:
			return a
		}
	}
	return ""
}
