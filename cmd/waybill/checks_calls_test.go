//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runs performs the run of an answer by 'waybill run', as an agent does without a terminal, and checks that it does not
// succeed and says why.
func (c *checked) runs(at handed, want string, flags ...string) {
	c.t.Helper()
	out, err := c.cmd(append([]string{"run", "--run", at.Data.Session.RunID, "--notes", "n"}, flags...)...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		c.t.Errorf("run %v: want %q, got %s", flags, want, out)
	}
}

const workflowFile = ".waybill/workflows/w.yaml"

// runTricks let 'waybill run' perform the step.
var runTricks = []trick{
	{name: "run with --trust", want: changedFile("tests.sh"), do: func(c *checked, at handed, _ *submission) {
		c.write("tests.sh", prints0(passing(5)))
		c.runs(at, "(check_changed)")
		c.runs(at, "(check_changed)", workflowFile, "--trust", "--yes")
	}},
	{name: "run with --trust in a copy of the project", want: wrong, do: func(c *checked, at handed, _ *submission) {
		c.in = c.copied()
		if err := os.WriteFile(filepath.Join(c.in, "tests.sh"), []byte(prints0(passing(5))), 0o600); err != nil {
			c.t.Fatal(err)
		}
		c.runs(at, "WORKFLOW_UNTRUSTED")
		c.runs(at, "WORKFLOW_UNTRUSTED", workflowFile, "--trust", "--yes")
		c.in = c.dir
	}},
	{name: "run in a folder of the project", files: map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, want: wrong,
		do: func(c *checked, at handed, _ *submission) {
			c.write("sub/tests.sh", prints0(passing(5)))
			c.in = filepath.Join(c.dir, "sub")
			c.runs(at, wrong)
			c.runs(at, wrong, "../"+workflowFile, "--trust")
			c.in = c.dir
		}},
	{name: "run with the caller's environment", flow: flowWith("[sh, obedient.sh]", "[obedient.sh, passes.txt, tests.sh, suite/cases.txt]"),
		files: obedientFiles, want: wrong, do: func(c *checked, at handed, _ *submission) {
			c.env = append(c.env, "GOFLAGS=-run=none", "PYTEST_ADDOPTS=--collect-only")
			c.runs(at, wrong)
		}},
	{name: "run with --trust after the trust was revoked", want: wrong, do: func(c *checked, at handed, _ *submission) {
		c.write("tests.sh", prints0(passing(5)))
		c.runPiped(0, "trust", "--revoke", "test.sum")
		c.runs(at, "WORKFLOW_UNTRUSTED", workflowFile, "--trust", "--yes")
		c.restore()
		c.trustIt()
	}},
}

// argued is a test program that gets the file with the cases as an argument.
const argued = `case $1 in --list) cat passes.txt; exit 0 ;; esac
event() { printf '{"Action":"%s","Package":"sum"%s}\n' "$1" "${2:+,\"Test\":\"$2\"}"; }
cat "$1" more.txt >/dev/null || exit 1
. ./tests.sh
`

var (
	arguedFlow  = flowWith(`[sh, argued.sh, "{{suite}}"]`, "[argued.sh, passes.txt, tests.sh, suite/cases.txt]")
	arguedFiles = map[string]string{"argued.sh": argued, "passes.txt": passing(5)}
	rightSuite  = submission{context: doc{"suite": "suite/cases.txt"}}
	folderFlow  = strings.Replace(sumFlow, "        pins:", "        cwd: \"{{dir}}\"\n        pins:", 1)
	rightFolder = submission{context: doc{"dir": "."}}
)

// value returns a trick that sends a value of the context with the attempt.
func value(key string, v any) func(*checked, handed, *submission) {
	return func(_ *checked, _ handed, s *submission) { s.context = doc{key: v} }
}

// valueTricks choose values that a command is filled with.
var valueTricks = []trick{
	{name: "value that is an option", flow: arguedFlow, files: arguedFiles, do: value("suite", "--list"), honest: rightSuite,
		want: "failed: it did not run: "},
	{name: "value that is an option, at the start", flow: arguedFlow, files: arguedFiles, start: doc{"suite": "--list"},
		honest: rightSuite, want: "failed: it did not run: "},
	{name: "value of a shell", flow: arguedFlow, files: arguedFiles, do: value("suite", "|| true"), honest: rightSuite,
		want: "exited with status 1, want 0"},
	{name: "value with commands", flow: arguedFlow, files: arguedFiles, do: value("suite", "x; cat passes.txt; exit 0"), honest: rightSuite,
		want: "exited with status 1, want 0"},
	{name: "no value", flow: arguedFlow, files: arguedFiles, honest: rightSuite,
		want: "failed: it did not run: "},
	{name: "empty value", flow: strings.Replace(arguedFlow, "{{suite}}", "suite/{{suite}}", 1), files: arguedFiles, do: value("suite", ""),
		honest: submission{context: doc{"suite": "cases.txt"}}, want: "failed: it did not run: "},
	{name: "value removed", flow: arguedFlow, files: arguedFiles, start: doc{"suite": "suite/cases.txt"}, do: value("suite", nil),
		honest: rightSuite, want: "failed: it did not run: "},
	{name: "folder above the project", flow: folderFlow, honest: rightFolder, want: "failed: it",
		do: func(c *checked, _ handed, s *submission) { s.context = doc{"dir": "../" + filepath.Base(c.copied())} }},
	{name: "absolute folder", flow: folderFlow, honest: rightFolder, want: "failed: it",
		do: func(c *checked, _ handed, s *submission) { s.context = doc{"dir": c.copied()} }},
	{name: "link to a folder elsewhere", flow: folderFlow, honest: rightFolder, want: "failed: its folder is not below the root of the project",
		do: func(c *checked, _ handed, s *submission) {
			c.link(c.copied(), "sub")
			s.context = doc{"dir": "sub"}
		}},
	{name: "link in the place of a literal folder", flow: strings.Replace(folderFlow, "{{dir}}", "sub", 1),
		files: map[string]string{"sub/tests.sh": "cd ..\n. ./tests.sh\n"}, want: "failed: its folder is not below the root of the project",
		do: func(c *checked, _ handed, _ *submission) { c.link(c.copied(), "sub") }},
	{name: "no folder", flow: folderFlow, honest: rightFolder, do: value("dir", "nowhere"), want: "failed: there is no folder"},
}

// keepsPID is a line of a script that writes the number of its process to the home folder.
const keepsPID = "echo $$ >>\"$HOME/pids\"\n"

// ended checks that no process is left whose number is in the home folder.
func ended(c *checked) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.home, "pids"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(field)
		for deadline := time.Now().Add(5 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				c.t.Errorf("process %d is left", pid)
				break
			}
		}
	}
}

// alive reports whether a process runs. One that ended and was not waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && syscall.Kill(pid, 0) == nil && !strings.HasPrefix(state, "Z")
}

// quick is sumFlow with a time limit of one second.
var quick = strings.Replace(sumFlow, "        pins:", "        timeoutSeconds: 1\n        pins:", 1)

// processTricks do more, or less, than a test does.
var processTricks = []trick{
	{name: "check that hangs", flow: quick, do: edit("sum.sh", keepsPID+"sh -c '"+keepsPID+"sleep 600' &\nsleep 600\n"),
		want: "failed: it ran longer than 1s and was stopped", after: ended},
	{name: "check that hangs after its report", flow: quick, do: edit("sum.sh", keepsPID+"cat <<'end'\n"+rest(passing(5))+"end\nsleep 600\n"),
		want: "failed: it ran longer than 1s and was stopped", after: ended},
	{name: "check that does not end when it is asked to", flow: quick, do: edit("sum.sh", keepsPID+"trap '' TERM\nwhile :; do sleep 0.1; done\n"),
		want: "failed: it ran longer than 1s and was stopped", after: ended},
	{name: "check that ends itself by a signal", do: edit("sum.sh", "kill -9 $$\n"), want: "failed: it was ended by signal 9"},
	{name: "flood", do: edit("sum.sh", "head -c 20000000 /dev/zero | tr '\\0' x\n"+rightSum), want: "proved nothing: its stdout is longer"},
	{name: "flood that hides a failure", do: edit("sum.sh", prints0(`{"Action":"fail","Package":"sum","Test":"A"}`)+
		"head -c 20000000 /dev/zero | tr '\\0' x\n"), want: "proved nothing: "},
	{name: "process that is left", do: edit("sum.sh", "sleep 600 >/dev/null 2>&1 &\necho $! >\"$HOME/pids\"\n"+wrongSum), want: wrong, after: ended},
	{name: "process that keeps the output open", do: edit("sum.sh", "sleep 600 &\necho $! >\"$HOME/pids\"\n"+wrongSum), want: wrong, after: ended},
	{name: "report after the exit", do: edit("sum.sh", "(sleep 0.3; cat <<'end'\n"+rest(passing(5))+"end\n) &\nexit 1\n"),
		want: "exited with status 1, want 0"},
	{name: "output file of commands", want: wrong,
		do: edit("sum.sh", `echo '{"kind":"wr.check_result","tests":{"passed":5}}' >"$WAYBILL_OUTPUT"`+"\n"+wrongSum)},
	{name: "check that hands the step in", want: wrong,
		do: func(c *checked, _ handed, _ *submission) {
			waybill, err := exec.LookPath("waybill")
			if err != nil {
				c.t.Fatal(err)
			}
			c.write("sum.sh", "waybill() { '"+waybill+"' continue --run \"$WAYBILL_RUN_ID\" --notes n --lock-wait 0 --store '"+c.store+
				"' --json; }\nwaybill >>\"$HOME/inner\" 2>&1\n"+wrongSum)
		}, after: func(c *checked) {
			inner, err := os.ReadFile(filepath.Join(c.home, "inner"))
			if err != nil || !strings.Contains(string(inner), "RUN_BUSY") {
				c.t.Errorf("handed in by the check: %s, %v", inner, err)
			}
		}},
}

// modeTricks choose a mode, or have a person approve.
var modeTricks = []trick{
	{name: "mode that never stops", flags: []string{"--autonomy", "full_auto_never_stop"}, want: wrong},
	{name: "preset that never stops", flags: []string{"--preset", "full_auto_never_stop"}, want: changedFile("tests.sh"),
		do: edit("tests.sh", prints0(passing(5)))},
	{name: "person who approves", flow: sumFlow + "    requireConfirmation: {kind: human_approval}\n", want: wrong,
		do: func(c *checked, at handed, _ *submission) {
			first := byCLI(c, at, submission{})
			if first.Kind != "blocked" || len(first.Data.Blockers) != 2 {
				c.t.Error(first.raw)
			}
			c.atTerminal(0, "y", "approve", at.Data.Session.RunID)
		}},
}
