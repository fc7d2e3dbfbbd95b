package commandlint_test

import (
	"fmt"
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

func TestConstant(t *testing.T) {
	for line, want := range map[string]bool{
		"true": true, ":": true, "false": true, "echo ok": true, "printf ok": true, "sleep 1": true, "go --version": true, "go version": true,
		"sh -c true": true, "bash -lc exit": true, "go test": false, "make": false, "sh run.sh": false, "test -f x": false,
		"grep -q x y": false, "go version x": false, "git --help": true,
	} {
		argv := strings.Fields(line)
		if got := commandlint.Constant(argv[0], argv[1:]) != ""; got != want {
			t.Errorf("%q: got %t", line, got)
		}
	}
	for script, want := range map[string]bool{"": true, "echo ok": true, "exit 0": true, "true": true, "echo $(git status)": false, "echo ok; make": false,
		"go test ./...": false, "echo ok > f": false, "true && make": false} {
		if got := commandlint.Constant("sh", []string{"-c", script}) != ""; got != want {
			t.Errorf("sh -c %q: got %t", script, got)
		}
	}
}

func TestIgnoresStatus(t *testing.T) {
	for script, want := range map[string]bool{
		"make || true": true, "make||:": true, "make; exit 0": true, "make\ntrue\n": true, "make || exit 0;": true, "make": false,
		"set -e; make; true": false, "set -e; make || true": true, "make && true": false, "exit 0": false, "is true": false, "make || exit 1": false,
	} {
		if got := commandlint.IgnoresStatus(script); got != want {
			t.Errorf("%q: got %t", script, got)
		}
	}
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
	if script, ok := commandlint.ScriptOf("bash", []string{"-euc", " x "}); script != "x" || !ok {
		t.Error(fmt.Sprint(script, ok))
	}
}
