package commandlint_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/commandlint"
)

func TestUnwrapped(t *testing.T) {
	for line, want := range map[string]string{
		"true": "true", "env true": "true", "env -i A=1 B=2 sh x": "sh x", "env -u A go test": "go test", "nice -n 5 make": "make",
		"timeout -k 5 10 go test": "go test", "timeout 10": "", "/usr/bin/nohup time -o f ls": "ls", "env": "", "": "", "nice -n": "",
		"sh -c true": "sh -c true", "exec command true": "true",
	} {
		if got := strings.Join(commandlint.Unwrapped(strings.Fields(line)), " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// constant and ignoring are commands in argv form: words are separated by blanks, and the script of a shell is behind -c.
var (
	constant = []string{"true", ":", "false", "echo ok", "printf ok", "sleep 1", "go --version", "go version", "git --help", "ls", "ls -la .", "pwd",
		"date", "id", "uname -a", "hostname", "env", "env A=1", "which go", "command -v go", "seq 3", "touch x", "cat report.json", "cat", "test 1 = 1",
		"[ a = a ]", "test ok", "env true", "sudo -u you true", "nice -n 5 true", "timeout 5 true", "xargs true", "xargs", "exec true", "command true",
		"busybox true", "nohup sleep 1", "sh", "bash -", "sh -s", "python3", "node", "python3 -c pass", "node -e 0", "perl -e 1",
		"node -e process.exit(0)", "node -e console.log('ok')", "cmd /c exit 0", "cmd.exe /C echo ok", "make -n test", "make test --dry-run", "make -kn",
		"go test -n ./...", "go test -list . ./...", "pytest --collect-only", "cargo test --no-run", "/bin/true", "/usr/bin/env true",
		"sh -c ", "sh -c true", "bash -lc exit", "sh -c exit 0", "sh -c exit 1", "sh -c echo ok", "sh -c echo ok; exit 0", "sh -c true && true", "sh -c (true)",
		"sh -c { true; }", "sh -c { echo a; echo b; } && exit 0", "sh -c false || true", "sh -c echo ok || echo no", "sh -c sleep 1 &", "sh -c # make", "sh -c true # make test",
		"sh -c echo 'make; make' ok", "sh -c echo ok > f", "sh -c echo ok >f 2>&1", "sh -c A=1", "sh -c A=1 true", "sh -c cd . && true", "sh -c sh -c true",
		"sh -c test 1 -eq 1", "sh -c set -e; true", "sh -c exit 0; make test", "sh -c ! false", "sh -c echo a | cat", "sh -c eval true", "bash -c :\n:\n",
		"sh -ec true", "env sh -c true", "timeout 5 sh -c 'true'", "sh -c date; ls"}
	ignoring = []string{"sh -c make || true", "sh -c make||:", "sh -c make; exit 0", "sh -c make\ntrue\n", "sh -c make || exit 0;", "sh -c make || echo failed",
		"sh -c set -e; make || true", "sh -c make &", "sh -c make & wait", "sh -c make | tee log", "sh -c make 2>&1 | cat", "sh -c (make; true)", "sh -c { make || :; }",
		"sh -c make; echo done # never", "sh -c go test ./... | tail -5", "sh -c echo $(git status)", "bash -c make || { echo no; true; }", "env sh -c make||true",
		"sh -c make; echo $?", "sh -c make |& tee log", "sh -c make >log; cat log", "sh -c make `true` || true", "bash -lc make;true"}
	real = []string{"go test ./...", "go test -json -count=1 ./...", "go vet ./...", "go build ./...", "make", "make test", "make -C sub check", "make -j4 test", "sh run.sh",
		"./run.sh", "bash tools/check.sh --all", "python3 -m pytest", "python3 t.py", "pytest -q tests", "node --test --test-reporter=tap", "npm test", "npm run lint",
		"cargo test", "cargo clippy", "test -f dist/app", "[ -s out.txt ]", "grep -q done notes.md", "git diff --exit-code", "git diff --quiet HEAD", "ls dist/app",
		"go version x", "shellcheck run.sh", "tsc --noEmit", "eslint .", "jq -e .ok report.json", "env CI=1 make test", "timeout 60 make", "sh -c true && make",
		"sh -c make && echo ok", "sh -c set -e; make; true", "sh -euc make; echo ok", "sh -c make || exit 1", "sh -c make || { echo no; exit 1; }",
		"sh -c cd sub && make", "sh -c ! grep -rq TODO src", "sh -c test -z \"$(git status --porcelain)\"", "sh -c [ \"$(wc -l <a)\" -gt 3 ]", "sh -c X=$(make)",
		"bash -c set -o pipefail; make | tee log", "bash -c set -euo pipefail; make 2>&1 | tee log", "sh -c make | grep -q ok", "sh -c if make; then echo ok; else exit 1; fi",
		"sh -c for f in *.t; do sh $f || exit 1; done", "sh -c f() { make; }; f", "sh -c exec make", "sh -c $CMD", "sh -c make; exit $?", "sh -c make & wait $!", "sh -c )", "sh -c true &&", "sh -c | cat", "sh -c ((((", "sh -c {",
		"sh -c cat <<x\nmake\nx\n", "sh -c make 'it is", "python3 -c import app; app.check()", "node -e require('./check')", "perl -c app.pl", "sh -n run.sh",
		"cmd /c build.bat", "make -f my.mk test", "cmp a b", "diff -r want got", "docker compose run tests", "sh -c make || { echo x; exit 0; }; make two",
		"sh -c make clean; make", "sh -c trap 'exit 0' EXIT; make", "sh -c make; test -f out"}
)

// argvOf is a command in argv form.
func argvOf(line string) []string {
	if before, script, ok := strings.Cut(line, "c "); ok && strings.Contains(before, "sh ") && strings.Contains(before, " -") {
		return append(strings.Fields(before+"c"), strings.Trim(script, "'"))
	}
	return strings.Fields(line)
}

// TestConstant: a command that says nothing about the project has a reason; a real one has none, and its status is not known.
func TestConstant(t *testing.T) {
	if len(real) < 40 {
		t.Errorf("%d real checks", len(real))
	}
	for _, line := range constant {
		if commandlint.Constant(argvOf(line)) == "" {
			t.Errorf("%q is no constant", line)
		}
	}
	for _, line := range append(append([]string{}, ignoring...), real...) {
		if why := commandlint.Constant(argvOf(line)); why != "" {
			t.Errorf("%q is a constant: %s", line, why)
		}
	}
}

// TestCannotFail: a script that ignores its commands cannot fail.
func TestCannotFail(t *testing.T) {
	for _, line := range ignoring {
		if !commandlint.CannotFail(argvOf(line)) {
			t.Errorf("%q can fail", line)
		}
	}
	for _, line := range real {
		if commandlint.CannotFail(argvOf(line)) {
			t.Errorf("%q cannot fail", line)
		}
	}
}

// TestIsTestRunner: programs whose exit status does not show that tests ran.
func TestIsTestRunner(t *testing.T) {
	for line, want := range map[string]bool{"go test ./...": true, "go vet ./...": false, "pytest": true, "python3 -m pytest -q": true, "python3 t.py": false,
		"node --test": true, "node t.js": false, "npm test": true, "npm run test": true, "npm run test:unit": true, "npm run tests": false, "npm run lint": false,
		"cargo test": true, "cargo build": false, "npx jest": true, "npx tsc": false, "uv run pytest": true, "make test": false, "bundle exec rspec": true,
		"npm": false, "": false, "npx": false, "uv run": false} {
		argv := append(strings.Fields(line), "")
		if got := commandlint.IsTestRunner(argv[0], argv[1:len(argv)-min(len(argv)-1, 1)]); got != want {
			t.Errorf("%q: got %t", line, got)
		}
	}
}

// FuzzConstant: no script, however it is written, stops the reader, and what is a constant has a status.
func FuzzConstant(f *testing.F) {
	for _, line := range append(append(append([]string{}, constant...), ignoring...), real...) {
		f.Add(strings.Join(argvOf(line), "\x00"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		argv := strings.Split(text, "\x00")
		_, _ = commandlint.Constant(argv), commandlint.CannotFail(argv)
		_, _ = commandlint.Constant([]string{"sh", "-c", text}), commandlint.CannotFail([]string{"sh", "-c", text})
	})
}

func TestProjectFile(t *testing.T) {
	for line, want := range map[string]string{
		"sh run.sh": "run.sh", "sh -x tools/run.sh a": "tools/run.sh", "python3 -m pytest": "", "python3 t.py": "t.py", "sh -c x": "",
		"node -e 1": "", "make test": "Makefile", "make -f my.mk test": "my.mk", "npm test": "package.json", "go test": "", "deno run a.ts": "a.ts",
		"sh": "", "./run.sh": "", "bash --norc x.sh": "x.sh",
	} {
		argv := strings.Fields(line)
		if got := commandlint.ProjectFile(argv[0], argv[1:]); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
