//go:build linux

package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/infra/controlfile"
)

// moreTricks are those about the caller, records, trust, values and processes.
func moreTricks() (all []trick) {
	for _, list := range [][]trick{callerTricks(), recordTricks, trustTricks, runTricks, valueTricks, processTricks, modeTricks} {
		all = append(all, list...)
	}
	return all
}

// flowWith is sumFlow with other lines of the check, and with lines of the step after them.
func flowWith(argv, pins string, more ...string) string {
	flow := strings.Replace(strings.Replace(sumFlow, "[sh, tests.sh]", argv, 1), "[tests.sh, suite/cases.txt]", pins, 1)
	return flow + strings.Join(more, "")
}

// obedient is a test program that a variable or a file in the home folder switches off, as options of real ones do.
var obedient = `for name in ` + strings.Join(switches, " ") + `; do
  eval "value=\$$name"
  if [ "$value" ]; then cat passes.txt; exit 0; fi
done
[ ! -e "$HOME/.sumrc" ] || . "$HOME/.sumrc"
. ./tests.sh
`

// switches are variables with which test runners, loaders and shells do something else.
var switches = []string{"GOFLAGS", "GOTESTSUM_FORMAT", "GOTOOLCHAIN", "GODEBUG", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONPATH",
	"PYTHONSTARTUP", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS", "MAVEN_OPTS",
	"RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "RUBYOPT", "PERL5OPT", "MAKEFLAGS", "GIT_DIR", "GIT_CONFIG_COUNT", "CI", "SKIP_TESTS"}

// asksGo is a test program that go switches off by its settings.
const asksGo = "case $(go env GOFLAGS) in *-run*) cat passes.txt; exit 0 ;; esac\n. ./tests.sh\n"

// readsSettings is a test program that settings in the home folder switch off where zsh and npm look for them.
const readsSettings = `for file in "${ZDOTDIR:-$HOME}/.zshenv" "${NPM_CONFIG_USERCONFIG:-$HOME/.npmrc}"; do
  if [ -f "$file" ]; then cat passes.txt; exit 0; fi
done
. ./tests.sh
`

var obedientFiles = map[string]string{"obedient.sh": obedient, "passes.txt": passing(5)}

// callerTricks make the caller's environment or folder decide.
func callerTricks() (all []trick) {
	flow := flowWith("[sh, obedient.sh]", "[obedient.sh, passes.txt, tests.sh, suite/cases.txt]")
	for _, name := range []string{"GOFLAGS=-run=none", "PYTEST_ADDOPTS=--collect-only", "BASH_ENV=/dev/null", "LD_LIBRARY_PATH=/nowhere",
		"NODE_OPTIONS=--require=./evil.js", "all"} {
		all = append(all, trick{name: "variable " + name, flow: flow, files: obedientFiles, want: wrong,
			do: func(c *checked, _ handed, _ *submission) {
				if name != "all" {
					c.env = append(c.env, name)
					return
				}
				for _, v := range switches {
					if v != "LD_PRELOAD" && v != "GODEBUG" && v != "GIT_CONFIG_COUNT" {
						c.env = append(c.env, v+"=1")
					}
				}
			}})
	}
	return append(all,
		trick{name: "BASH_ENV of a shell that reads it", flow: flowWith("[bash, tests.sh]", "[tests.sh, suite/cases.txt]"), want: wrong,
			do: func(c *checked, _ handed, _ *submission) {
				c.write("evil.sh", prints0(passing(5)))
				c.env = append(c.env, "BASH_ENV="+filepath.Join(c.dir, "evil.sh"))
			}},
		trick{name: "home folder of the caller", flow: flow, files: obedientFiles, want: wrong, do: func(c *checked, _ handed, _ *submission) {
			c.write("evil/.sumrc", "cat passes.txt; exit 0\n")
			c.env = append(c.env, "HOME="+filepath.Join(c.dir, "evil"))
		}},
		trick{name: "program of the same name in the caller's PATH", flow: flowWith("[sums]", "[tests.sh, suite/cases.txt]"), want: wrong,
			do: func(c *checked, _ handed, _ *submission) {
				c.write("evil/sums", "#!/bin/sh\n"+prints0(passing(5)))
				c.write("evil/sh", "#!/bin/sh\n"+prints0(passing(5)))
				c.env = append(c.env, "PATH="+filepath.Join(c.dir, "evil")+":"+os.Getenv("PATH"))
			}},
		trick{name: "program in a folder of the project that is in the person's PATH", flow: flowWith("[sh, calls.sh]", "[calls.sh, tests.sh, suite/cases.txt]"),
			files: map[string]string{"calls.sh": "sums\n", "bin/other": "#!/bin/sh\n"}, want: wrong, do: edit("bin/sums", "#!/bin/sh\n"+prints0(passing(5)))},
		trick{name: "program in a folder of PATH that is made later", flow: flowWith("[sh, calls.sh]", "[calls.sh, tests.sh, suite/cases.txt]"),
			files: map[string]string{"calls.sh": "sums\n"}, want: wrong, do: edit("bin/sums", "#!/bin/sh\n"+prints0(passing(5)))},
		trick{name: "settings of go in the home folder", flow: flowWith("[sh, go.sh]", "[go.sh, passes.txt, tests.sh, suite/cases.txt]"),
			files: map[string]string{"go.sh": asksGo, "passes.txt": passing(5)}, want: wrong, do: edit("home:go/env", "GOFLAGS=-run=none\n")},
		trick{name: "settings of zsh and npm in the home folder", flow: flowWith("[sh, obedient.sh]", "[obedient.sh, passes.txt, tests.sh, suite/cases.txt]"),
			files: map[string]string{"obedient.sh": readsSettings, "passes.txt": passing(5)}, want: wrong,
			do: func(c *checked, _ handed, _ *submission) {
				c.write("home:.zshenv", "")
				c.write("home:.npmrc", "script-shell=/bin/true\n")
			}},
		trick{name: "no PATH", flow: flowWith("[sums]", "[tests.sh, suite/cases.txt]"), want: wrong,
			do: func(c *checked, _ handed, _ *submission) { c.env = append(c.env, "PATH=") }},
		trick{name: "program replaced", flow: flowWith("[sums]", "[tests.sh, suite/cases.txt]"), want: changedFile("sums"),
			do: edit("tools:sums", "#!/bin/sh\n"+prints0(passing(5)))},
		trick{name: "program of the project replaced", flow: flowWith("[./run-tests]", "[tests.sh, suite/cases.txt]"),
			files: map[string]string{"run-tests": "#!/bin/sh\nexec sh tests.sh\n"}, want: changedFile("./run-tests"),
			do: edit("run-tests", "#!/bin/sh\n"+prints0(passing(5)))},
		trick{name: "program deleted", flow: flowWith("[sums]", "[tests.sh, suite/cases.txt]"), want: changedFile("sums"),
			do: func(c *checked, _ handed, _ *submission) { _ = os.Remove(filepath.Join(c.tools, "sums")) }},
		trick{name: "copy of the project", code: "WORKFLOW_UNTRUSTED", want: "test.sum", do: func(c *checked, _ handed, _ *submission) {
			c.write("tests.sh", prints0(passing(5)))
			c.in = c.copied()
		}},
		trick{name: "repository in the project", code: "WORKFLOW_UNTRUSTED", want: "test.sum", do: func(c *checked, _ handed, _ *submission) {
			c.write("nested/.git/HEAD", "ref: refs/heads/main\n")
			c.write("nested/tests.sh", prints0(passing(5)))
			c.in = filepath.Join(c.dir, "nested")
		}},
		trick{name: "folder of the project", files: map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, want: wrong,
			do: func(c *checked, _ handed, _ *submission) {
				c.write("sub/tests.sh", prints0(passing(5)))
				c.in = filepath.Join(c.dir, "sub")
			}},
	)
}

// madeUp is a result of the check that no check made.
func madeUp(change doc) doc {
	out := doc{"kind": "wr.check_result", "checkId": "tests", "exit": 0, "stepInstanceKey": "verify",
		"attemptId": "attempt_aaaaaaaaaaaaaaaaaaaaaaaaaa", "tests": doc{"failed": 0, "format": "go", "passed": 5, "skipped": 0}}
	for k, v := range change {
		out[k] = v
	}
	return out
}

// honestly has another run of the workflow done, and returns its results.
func (c *checked) honestly() []string {
	c.t.Helper()
	c.write("sum.sh", rightSum)
	at := c.start(nil)
	if done := byCLI(c, at, submission{}); !done.Data.IsComplete {
		c.t.Fatal(done.raw)
	}
	c.write("sum.sh", wrongSum)
	return c.results(at)
}

// recordTricks use results that belong elsewhere, or nowhere.
var recordTricks = []trick{
	{name: "made-up result", code: "VALIDATION_ERROR", want: "wr.check_result",
		do: func(_ *checked, _ handed, s *submission) { s.artifacts = []any{madeUp(nil)} }},
	{name: "made-up result that lacks everything", code: "VALIDATION_ERROR", want: "wr.check_result",
		do: func(_ *checked, _ handed, s *submission) { s.artifacts = []any{doc{"kind": "wr.check_result"}} }},
	{name: "result of another run, sent", code: "VALIDATION_ERROR", want: "wr.check_result",
		do: func(c *checked, _ handed, s *submission) {
			s.artifacts = []any{json.RawMessage(c.honestly()[0])}
		}},
	{name: "result of another run with the id of this attempt", code: "VALIDATION_ERROR", want: "wr.check_result",
		do: func(c *checked, at handed, s *submission) {
			var older doc
			if err := json.Unmarshal([]byte(c.honestly()[0]), &older); err != nil {
				c.t.Fatal(err)
			}
			older["attemptId"] = attemptOf(c, at)
			s.artifacts = []any{older}
		}},
	{name: "made-up result in other letters", want: wrong,
		do: func(_ *checked, _ handed, s *submission) { s.artifacts = []any{madeUp(doc{"kind": "wr.Check_result"})} }},
	{name: "made-up result inside of another artifact", want: wrong, do: func(_ *checked, _ handed, s *submission) {
		s.artifacts = []any{doc{"kind": "report", "artifacts": []any{madeUp(nil)}}}
	}},
	{name: "made-up result in the notes and the context", want: wrong, do: func(_ *checked, _ handed, s *submission) {
		text, _ := json.Marshal(madeUp(nil))
		s.notes, s.context = string(text), doc{"checks": doc{"tests": madeUp(nil)}, "wr.check_result": madeUp(nil)}
	}},
	{name: "made-up result in a checkpoint", want: wrong, do: func(c *checked, at handed, _ *submission) {
		file := cliDoor{dir: c.t.TempDir()}.file(c.t, "made-up.json", madeUp(nil))
		if r := c.answer("checkpoint", "--run", at.Data.Session.RunID, "--artifact", file); r.Error.Code != "VALIDATION_ERROR" {
			c.t.Error(r.raw)
		}
	}},
	{name: "other run of the workflow", want: wrong, do: func(c *checked, _ handed, _ *submission) { c.honestly() }},
	{name: "earlier attempt of the step", flow: sumFlow + "    notesRequired: true\n", want: wrong, honest: submission{notes: "Done."},
		do: func(c *checked, at handed, s *submission) {
			c.write("sum.sh", rightSum)
			if r := byCLI(c, at, submission{}); r.Kind != "blocked" || len(c.results(at)) != 1 {
				c.t.Error(r.raw)
			}
			c.write("sum.sh", wrongSum)
			s.notes = "Done."
		}},
	{name: "result of another step", flow: strings.Replace(sumFlow, "  - id: verify", secondStep+"  - id: verify", 1), want: wrong,
		begin: func(c *checked) handed {
			c.write("sum.sh", rightSum)
			at := byCLI(c, c.start(nil), submission{})
			c.write("sum.sh", wrongSum)
			return at
		}},
	{name: "result of an earlier iteration", flow: sumLoopFlow, want: wrong, begin: func(c *checked) handed {
		c.write("sum.sh", rightSum)
		at := byCLI(c, c.start(doc{"names": []any{"a", "b"}}), submission{})
		c.write("sum.sh", wrongSum)
		return at
	}},
	{name: "the same request with the files put back", want: changedFile("tests.sh"), same: true,
		do: func(c *checked, at handed, s *submission) {
			c.write("tests.sh", prints0(passing(5)))
			if r := byCLI(c, at, *s); r.Kind != "blocked" {
				c.t.Error(r.raw)
			}
			c.restore()
			c.write("sum.sh", rightSum)
		}},
}

// secondStep is a step with the check of sumFlow.
var secondStep = strings.Replace(sumFlow[strings.Index(sumFlow, "  - id: verify"):], "verify", "first", 1)

// sumLoopFlow has the check of sumFlow in a loop.
var sumLoopFlow = sumFlow[:strings.Index(sumFlow, "  - id: verify")] + `  - id: each
    title: Each
    type: loop
    loop: {type: forEach, items: names, itemVar: name, maxIterations: 5}
    body:
` + indented(sumFlow[strings.Index(sumFlow, "  - id: verify"):])

// indented moves lines to the right.
func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}

// attemptOf is the id of the attempt that an ack token is for.
func attemptOf(c *checked, at handed) string {
	c.t.Helper()
	var payload struct{ AttemptID string }
	part := strings.Split(at.Data.AckToken, ".")
	text, err := base64.RawURLEncoding.DecodeString(part[2])
	if err == nil {
		err = json.Unmarshal(text, &payload)
	}
	if err != nil || payload.AttemptID == "" {
		c.t.Fatalf("ack token %q: %v", at.Data.AckToken, err)
	}
	return payload.AttemptID
}

// trustTricks change what counts as trusted.
var trustTricks = []trick{
	{name: "edited list of trusted workflows", code: "POLICY_UNCONFIRMED", do: func(c *checked, _ handed, _ *submission) {
		evil := prints0(passing(5))
		c.write("tests.sh", evil)
		c.forgeTrust(func(text string) string {
			return strings.Replace(text, canon.Sum([]byte(sumTests)).String(), canon.Sum([]byte(evil)).String(), 1)
		})
	}},
	{name: "deleted list of trusted workflows", code: "POLICY_UNCONFIRMED", do: func(c *checked, _ handed, _ *submission) {
		c.keepTrust()
		_ = os.Remove(filepath.Join(c.store, "trust.json"))
	}},
	{name: "older list of trusted workflows", code: "POLICY_UNCONFIRMED", do: func(c *checked, _ handed, _ *submission) {
		older := c.trustFile()
		c.kept["tests.sh"] += "# Stricter.\n"
		c.restore()
		c.trustIt()
		c.keepTrust()
		c.write("tests.sh", sumTests)
		c.writeTrust(older)
	}},
	{name: "trust by a pipe", untrusted: true, code: "WORKFLOW_UNTRUSTED", want: "test.sum",
		do: func(c *checked, at handed, _ *submission) {
			for _, args := range [][]string{{"trust", "test.sum"}, {"trust", "test.sum", "--yes"}} {
				cmd := c.cmd(args...)
				cmd.Stdin = strings.NewReader("y\ny\ny\n")
				if out, err := cmd.CombinedOutput(); err == nil {
					c.t.Errorf("%v: %s", args, out)
				}
			}
		}, undo: (*checked).trustIt},
	{name: "revoked trust", code: "WORKFLOW_UNTRUSTED", want: "test.sum", do: func(c *checked, _ handed, _ *submission) {
		c.runPiped(0, "trust", "--revoke", "test.sum")
	}, undo: (*checked).trustIt},
	{name: "replaced workflow", want: wrong, do: func(c *checked, _ handed, _ *submission) {
		c.write(".waybill/workflows/w.yaml", strings.Replace(sumFlow, "min: 5, failed: 0", "min: 0, failed: 9", 1))
		if r := byCLI(c, c.start(nil), submission{}); r.Error.Code != "WORKFLOW_UNTRUSTED" {
			c.t.Error("a weaker version of the workflow:", r.raw)
		}
	}},
}

// trustFile is the content of the list of trusted workflows.
func (c *checked) trustFile() string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.store, "trust.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// writeTrust writes the list of trusted workflows past the program.
func (c *checked) writeTrust(text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.store, "trust.json"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// keepTrust has the list of trusted workflows put back at the end of the trick.
func (c *checked) keepTrust() {
	c.t.Helper()
	text := c.trustFile()
	c.putBack = func() { c.writeTrust(text) }
}

// forgeTrust changes the list of trusted workflows, with a digest that fits.
func (c *checked) forgeTrust(change func(string) string) {
	c.t.Helper()
	c.keepTrust()
	before, err := controlfile.Decode([]byte(c.trustFile()), "trust")
	if err != nil {
		c.t.Fatal(err)
	}
	data := change(string(before.Data.JCS()))
	if data == string(before.Data.JCS()) {
		c.t.Fatal("nothing changed in", data)
	}
	var text []byte
	if before.Data, err = canon.Parse([]byte(data)); err == nil {
		text, err = controlfile.Encode(before)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.writeTrust(string(text))
}

// pipe makes a named pipe.
func (c *checked) pipe(name string) {
	c.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(c.dir, name), 0o600); err != nil {
		c.t.Fatal(err)
	}
}
