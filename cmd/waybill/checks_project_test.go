//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sumFlow is a workflow whose only step is done when the tests of sum.sh pass.
const sumFlow = `id: test.sum
name: Sum
description: d
version: 1.0.0
steps:
  - id: verify
    title: Verify
    prompt: Make add return the sum.
    checks:
      - id: tests
        argv: [sh, tests.sh]
        pins: [tests.sh, suite/cases.txt]
        expect: {tests: {min: 5, failed: 0}}
`

// sumTests are the tests of sum.sh. They report as 'go test -json' does.
const sumTests = `event() { printf '{"Action":"%s","Package":"sum"%s}\n' "$1" "${2:+,\"Test\":\"$2\"}"; }
event start
failed=
. ./sum.sh
for cases in suite/cases.txt more.txt; do
  while read -r name a b want; do
    event run "$name"
    if [ "$(add "$a" "$b")" = "$want" ]; then event pass "$name"; else event fail "$name"; failed=1; fi
  done <"$cases"
done
if [ "$failed" ]; then event fail; exit 1; fi
event pass
`

const (
	wrongSum = "add() { echo 0; }\n" // four of the five tests fail
	rightSum = "add() { echo $(($1 + $2)); }\n"
	wrong    = "exited with status 1, want 0." // and the counts are those of wrongSum
)

// sumFiles are the files of the project at the time when the workflow is trusted.
var sumFiles = map[string]string{
	"tests.sh":        sumTests,
	"sum.sh":          wrongSum,
	"suite/cases.txt": "TestZero 0 0 0\nTestLeft 1 0 1\nTestRight 0 1 1\n",
	"more.txt":        "TestBoth 1 2 3\nTestSame 2 2 4\n",
}

// passing is a report of n tests that pass.
func passing(n int) string {
	var b strings.Builder
	b.WriteString(`{"Action":"start","Package":"sum"}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, `{"Action":"run","Package":"sum","Test":"Test%d"}`+"\n"+`{"Action":"pass","Package":"sum","Test":"Test%d"}`+"\n", i, i)
	}
	b.WriteString(`{"Action":"pass","Package":"sum"}` + "\n")
	return b.String()
}

// checked is a project whose workflow has checks, with a store.
type checked struct {
	program
	home  string            // of the person
	tools string            // folder of PATH that precedes those of the system
	kept  map[string]string // the files of the project, by path
	env   []string          // of the program
	in    string            // folder in which the program is called
	// putBack undoes what restore does not; nil: nothing.
	putBack func()
}

// newChecked returns a project with files and a workflow, which the person trusts.
func newChecked(t *testing.T, flow string, files ...map[string]string) *checked {
	t.Helper()
	c := untrusted(t, flow, files...)
	c.trustIt()
	return c
}

// untrusted returns a project with files and a workflow, which no person has trusted.
func untrusted(t *testing.T, flow string, files ...map[string]string) *checked {
	t.Helper()
	c := &checked{program: program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}, home: t.TempDir(), tools: t.TempDir(),
		kept: map[string]string{".waybill/workflows/w.yaml": flow}}
	for _, more := range append([]map[string]string{sumFiles}, files...) {
		for name, text := range more {
			c.kept[name] = text
		}
	}
	c.in, c.env = c.dir, c.personEnv()
	c.write("tools:sums", "#!/bin/sh\nexec sh tests.sh\n")
	c.restore()
	return c
}

// personEnv is the environment of the person, whose PATH begins with a folder of the project.
func (c *checked) personEnv() []string {
	return append(os.Environ(), "PATH="+filepath.Join(c.dir, "bin")+":"+c.tools+":"+os.Getenv("PATH"), "HOME="+c.home,
		"XDG_CONFIG_HOME="+c.home)
}

// write writes a file of the project, or with the prefix "tools:" or "home:" one beside it.
func (c *checked) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	for prefix, dir := range map[string]string{"tools:": c.tools, "home:": c.home} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			path = filepath.Join(dir, rest)
		}
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		_ = os.Remove(path) // what a link leads to is not meant
		err = os.WriteFile(path, []byte(text), 0o700)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// remove removes a file of the project.
func (c *checked) remove(name string) {
	c.t.Helper()
	if err := os.Remove(filepath.Join(c.dir, name)); err != nil {
		c.t.Fatal(err)
	}
}

// link replaces a file or a folder of the project by a link.
func (c *checked) link(to, name string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	err := os.RemoveAll(path)
	if err == nil {
		err = os.Symlink(to, path)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// restore makes the files of the project what they were. The folder itself remains.
func (c *checked) restore() {
	c.t.Helper()
	list, err := os.ReadDir(c.dir)
	for _, e := range list {
		if err == nil {
			err = os.RemoveAll(filepath.Join(c.dir, e.Name()))
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	for name, text := range c.kept {
		c.write(name, text)
	}
	c.write("tools:sums", "#!/bin/sh\nexec sh tests.sh\n")
}

// trustIt records that a person trusts the workflow.
func (c *checked) trustIt() {
	c.t.Helper()
	cmd := c.command("trust", ".waybill/workflows/w.yaml")
	cmd.Env = c.personEnv()
	if out, err := withPerson(cmd, "y"); err != nil || !bytes.Contains(out, []byte("is trusted")) {
		c.t.Fatalf("trust: %v\n%s", err, out)
	}
}

// cmd is a call of the program.
func (c *checked) cmd(args ...string) *exec.Cmd {
	cmd := c.command(args...)
	cmd.Dir, cmd.Env = c.in, c.env
	return cmd
}

// handed is the document of an answer about a run.
type handed struct {
	Kind string
	Data struct {
		StateToken, AckToken, Status string
		IsComplete                   bool
		Pending                      *struct{ StepID, StepInstanceKey, Prompt string }
		Session                      struct{ RunID, SessionID string }
		Blockers                     []struct {
			Code, Message string
			Pointer       struct{ Kind, StepID string }
			Check         *struct {
				ID         string
				Exit       *int
				OutputTail string
				Tests      *struct {
					Format                  string
					Passed, Failed, Skipped int
				}
			}
		}
	}
	Error struct{ Code, Message, Suggestion string }
	raw   string
}

// door hands steps in: by the command line, or by the server.
type checkDoor func(c *checked, at handed, s submission) handed

// byCLI calls continue.
func byCLI(c *checked, at handed, s submission) handed {
	c.t.Helper()
	args := []string{"continue", "--state", at.Data.StateToken, "--ack", at.Data.AckToken}
	if s.notes != "" {
		args = append(args, "--notes", s.notes)
	}
	dir := c.t.TempDir()
	if s.context != nil {
		args = append(args, "--context", cliDoor{dir: dir}.file(c.t, "context.json", s.context))
	}
	for i, a := range s.artifacts {
		args = append(args, "--artifact", cliDoor{dir: dir}.file(c.t, fmt.Sprintf("artifact-%d.json", i), a))
	}
	return c.answer(args...)
}

// byMCP calls a server that was just started, since its environment and its folder may be part of a trick.
func byMCP(c *checked, at handed, s submission) handed {
	c.t.Helper()
	agent := agentOf(c.t, c.cmd("mcp"))
	output := doc{}
	if s.notes != "" {
		output["notesMarkdown"] = s.notes
	}
	if len(s.artifacts) > 0 {
		output["artifacts"] = s.artifacts
	}
	args := doc{"stateToken": at.Data.StateToken, "ackToken": at.Data.AckToken}
	if len(output) > 0 {
		args["output"] = output
	}
	if s.context != nil {
		args["context"] = s.context
	}
	out := handedOf(c.t, agent.tool("continue_workflow", args).raw)
	agent.ends()
	return out
}

// doors are the ways to hand a step in.
var doors = map[string]checkDoor{"cli": byCLI, "mcp": byMCP}

// answer calls the program and reads its document.
func (c *checked) answer(args ...string) handed {
	c.t.Helper()
	out, _ := c.cmd(append(args, "--json")...).Output()
	return handedOf(c.t, string(out))
}

// handedOf reads a document.
func handedOf(t *testing.T, text string) (h handed) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	h.raw = text
	return h
}

// start starts a run, as any caller may.
func (c *checked) start(context doc, flags ...string) handed {
	c.t.Helper()
	args := append([]string{"start", "test.sum"}, flags...)
	if context != nil {
		args = append(args, "--context", cliDoor{dir: c.t.TempDir()}.file(c.t, "context.json", context))
	}
	at := c.answer(args...)
	if at.Kind != "step" || at.Data.Pending == nil {
		c.t.Fatal(at.raw)
	}
	return at
}

// pending returns the step of a run as it is shown; its ack token is that of the next attempt.
func (c *checked) pending(at handed) handed {
	c.t.Helper()
	return c.answer("continue", "--state", at.Data.StateToken)
}

// state returns the status of the run of an answer, and the state of its pending step.
func (c *checked) state(at handed) (status, state string) {
	c.t.Helper()
	var run struct {
		Status string
		Steps  []struct{ StepInstanceKey, State string }
	}
	c.json(&run, "runs", "show", at.Data.Session.RunID)
	for _, s := range run.Steps {
		if s.StepInstanceKey == at.Data.Pending.StepInstanceKey {
			state = s.State
		}
	}
	return run.Status, state
}

// results returns the results of checks in the run of an answer, in the order of the log, as the bytes that are stored.
func (c *checked) results(at handed) (out []string) {
	c.t.Helper()
	var log struct {
		Events []struct {
			Kind string
			Data struct {
				Payload struct{ ArtifactKind, SHA256 string }
			}
		}
	}
	c.json(&log, "runs", "events", at.Data.Session.RunID)
	for _, e := range log.Events {
		if e.Kind != "node_output_appended" || e.Data.Payload.ArtifactKind != "wr.check_result" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.store, "artifacts", "sha256_"+strings.TrimPrefix(e.Data.Payload.SHA256, "sha256:")))
		if err != nil {
			c.t.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out
}

// copied copies the project to a new folder and returns it.
func (c *checked) copied() string {
	c.t.Helper()
	to := filepath.Join(c.t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(c.dir)); err != nil {
		c.t.Fatal(err)
	}
	return to
}
