//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// TestHonestChecks: who does the work is never refused. The same workflow is done in many runs of one store, by the command
// line and by the server in turn.
func TestHonestChecks(t *testing.T) {
	t.Parallel()
	c := newChecked(t, sumFlow)
	c.write("sum.sh", rightSum)
	names := []string{"cli", "mcp"}
	cases := sample.OneIn(t, 10)
	for i := range cases.Of(100) {
		at := c.start(nil)
		if done := doors[names[i%2]](c, at, submission{}); !done.Data.IsComplete || done.Data.Status != "complete" {
			t.Fatalf("run %d: %s", i, done.raw)
		}
		results := c.results(at)
		if len(results) != 1 || !strings.Contains(results[0], `"exit":0`) ||
			!strings.Contains(results[0], `"tests":{"failed":0,"format":"go","passed":5,"skipped":0}`) {
			t.Fatalf("run %d: %s", i, results)
		}
	}
	c.verified()
}

// TestChecksOverMCP: an agent hands in, learns what the check reports, corrects the work, and completes.
func TestChecksOverMCP(t *testing.T) {
	t.Parallel()
	c := newChecked(t, sumFlow)
	agent := agentOf(t, c.cmd("mcp"))
	defer agent.ends()
	tool := func(name string, args any) handed { return handedOf(t, agent.tool(name, args).raw) }
	handIn := func(at handed) handed {
		return tool("continue_workflow", doc{"stateToken": at.Data.StateToken, "ackToken": at.Data.AckToken,
			"output": doc{"notesMarkdown": "Done."}})
	}
	at := tool("start_workflow", doc{"workflowId": "test.sum"})
	blocked := handIn(at)
	if blocked.Kind != "blocked" || len(blocked.Data.Blockers) != 1 || blocked.Data.Blockers[0].Check == nil {
		t.Fatal(blocked.raw)
	}
	b := blocked.Data.Blockers[0].Check
	if b.ID != "tests" || b.Exit == nil || *b.Exit != 1 || b.Tests == nil || b.Tests.Format != "go" || b.Tests.Passed != 1 ||
		b.Tests.Failed != 4 || b.Tests.Skipped != 0 {
		t.Errorf("%+v", b)
	}
	for _, want := range []string{`{"Action":"fail","Package":"sum","Test":"TestBoth"}`, `{"Action":"fail","Package":"sum"}`} {
		if !strings.Contains(b.OutputTail, want) {
			t.Errorf("no %s in the end of the output: %s", want, b.OutputTail)
		}
	}
	c.write("sum.sh", "add() { echo $(($1 | $2)); }\n")
	if blocked = handIn(blocked); blocked.Kind != "blocked" || blocked.Data.Blockers[0].Check.Tests.Failed != 1 {
		t.Fatal(blocked.raw)
	}
	c.write("sum.sh", rightSum)
	if done := handIn(blocked); !done.Data.IsComplete || done.Data.Status != "complete" {
		t.Fatal(done.raw)
	}
	if n := len(c.results(at)); n != 3 {
		t.Errorf("%d results, want one of each attempt", n)
	}
	c.verified()
}

// TestChecksOverMCPWithoutTrust: the answer names the command with which a person trusts the workflow, nothing is recorded and
// nothing runs; afterwards the same call is taken.
func TestChecksOverMCPWithoutTrust(t *testing.T) {
	t.Parallel()
	c := untrusted(t, strings.Replace(sumFlow, "[sh, tests.sh]", "[sh, -c, 'echo ran >>ran; exec sh tests.sh']", 1))
	c.write("sum.sh", rightSum)
	agent := agentOf(t, c.cmd("mcp"))
	defer agent.ends()
	at := handedOf(t, agent.tool("start_workflow", doc{"workflowId": "test.sum"}).raw)
	before := c.runPiped(0, "runs", "events", at.Data.Session.RunID)
	call := doc{"stateToken": at.Data.StateToken, "ackToken": at.Data.AckToken, "output": doc{"notesMarkdown": "Done."}}
	for range 2 {
		r := agent.tool("continue_workflow", call)
		if !r.isError || r.Error.Code != "WORKFLOW_UNTRUSTED" || !strings.Contains(r.Error.Message+r.Error.Suggestion, "waybill trust") {
			t.Fatal(r.raw)
		}
	}
	if after := c.runPiped(0, "runs", "events", at.Data.Session.RunID); after != before || c.ran() != "" {
		t.Errorf("something ran or is recorded: %q\n%s", c.ran(), after)
	}
	c.trustIt()
	if done := handedOf(t, agent.tool("continue_workflow", call).raw); !done.Data.IsComplete || c.ran() != "ran" {
		t.Errorf("%q: %s", c.ran(), done.raw)
	}
	c.verified()
}

// waits is a line of a script that waits until a file is in the home folder, after it has written its number.
const waits = keepsPID + "while [ ! -e \"$HOME/go\" ]; do sleep 0.02; done\n"

// killMoments are the files of a project in which a check waits at a moment.
var killMoments = map[string]map[string]string{
	"at the beginning":        {"sum.sh": waits + rightSum},
	"before the last test":    {"sum.sh": "add() { [ \"$1 $2\" != '2 2' ] || { " + strings.ReplaceAll(waits, "\n", "; ") + "}; echo $(($1 + $2)); }\n"},
	"after the report":        {"sum.sh": rightSum + "trap '" + strings.ReplaceAll(waits, "\n", "; ") + "' EXIT\n"},
	"in the second check":     {"sum.sh": rightSum, "second.sh": waits},
	"with a process it began": {"sum.sh": "sleep 600 &\necho $! >>\"$HOME/pids\"\n" + waits + "kill $!\n" + rightSum},
}

// TestKilledInCheck kills the caller while a check runs, in each way to hand a step in. Nothing is recorded, the processes of
// the check end with the caller, and the same call is taken afterwards, with one result of each check.
func TestKilledInCheck(t *testing.T) {
	t.Parallel()
	flow := sumFlow + "      - {id: second, argv: [sh, second.sh], pins: [second.sh]}\n"
	for moment, files := range killMoments {
		for _, by := range []string{"run", "continue", "mcp"} {
			t.Run(moment+", "+by, func(t *testing.T) {
				t.Parallel()
				c := newChecked(t, flow, map[string]string{"second.sh": "exit 0\n"}, files)
				at := c.start(nil)
				cmd := c.killable(by, at)
				c.until("pids")
				// What stops the processes learns of them right after the start of the check, for which a busy machine takes longer.
				time.Sleep(200 * time.Millisecond)
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				ended(c)
				if results := c.results(at); len(results) != 0 {
					t.Errorf("recorded by a killed process: %s", results)
				}
				c.write("home:go", "")
				c.again(by, at)
				if results := c.results(at); len(results) != 2 || results[0] == results[1] {
					t.Errorf("results: %s", results)
				}
				if status, state := c.state(at); status != "complete" || state != "done" {
					t.Errorf("the run is %s, the step %s", status, state)
				}
				c.verified()
			})
		}
	}
}

// killable starts a process that hands the step of an answer in.
func (c *checked) killable(by string, at handed) *exec.Cmd {
	c.t.Helper()
	if by == "mcp" {
		agent := agentOf(c.t, c.cmd("mcp"))
		args, err := json.Marshal(doc{"name": "continue_workflow",
			"arguments": doc{"stateToken": at.Data.StateToken, "ackToken": at.Data.AckToken}})
		if err != nil {
			c.t.Fatal(err)
		}
		agent.write(`{"jsonrpc":"2.0","id":99,"method":"tools/call","params":` + string(args) + `}`)
		return agent.cmd
	}
	cmd := c.cmd("continue", "--state", at.Data.StateToken, "--ack", at.Data.AckToken)
	if by == "run" {
		cmd = c.cmd("run", "--run", at.Data.Session.RunID, "--notes", "n")
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd
}

// again makes the call of a killed process again.
func (c *checked) again(by string, at handed) {
	c.t.Helper()
	switch by {
	case "run":
		if out, err := c.cmd("run", "--run", at.Data.Session.RunID, "--notes", "n").CombinedOutput(); err != nil {
			c.t.Errorf("%v: %s", err, out)
		}
	case "continue":
		if r := byCLI(c, at, submission{}); !r.Data.IsComplete {
			c.t.Error(r.raw)
		}
	default:
		if r := byMCP(c, at, submission{}); !r.Data.IsComplete {
			c.t.Error(r.raw)
		}
	}
}

// until waits for a file in the home folder.
func (c *checked) until(name string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(filepath.Join(c.home, name)); err == nil && len(text) > 0 {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("there is no file %q", name)
		}
	}
}

// TestCheckedElsewhere: a run is handed in from another folder that is trusted as well. The record says where its checks ran,
// the answer warns, and the views mark it; in the folder of the run nothing is marked.
func TestCheckedElsewhere(t *testing.T) {
	t.Parallel()
	c := newChecked(t, sumFlow, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": strings.Repeat("0a", 20) + "\n"})
	first := c.start(nil)
	at := byCLI(c, first, submission{})
	if at.Kind != "blocked" || strings.Contains(at.raw, "CHECKED_ELSEWHERE") {
		t.Fatal(at.raw)
	}
	c.write("sum.sh", rightSum)
	here := c.dir
	c.dir = c.copied()
	c.write(".git/refs/heads/main", strings.Repeat("b1", 20)+"\n")
	c.trustIt()
	c.in, c.dir = c.dir, here
	done := byCLI(c, at, submission{})
	if !done.Data.IsComplete || !strings.Contains(done.raw, `"code":"CHECKED_ELSEWHERE","message":"Check \"tests\" ran in another folder`) {
		t.Error(done.raw)
	}
	results := c.results(at)
	if len(results) != 2 || !strings.Contains(results[0], `"gitHead":"`+strings.Repeat("0a", 20)) ||
		!strings.Contains(results[1], `"gitHead":"`+strings.Repeat("b1", 20)) || !strings.Contains(results[1], `"root":"sha256:`) {
		t.Errorf("%s", results)
	}
	var run struct {
		Steps []struct {
			Checks []struct {
				Passed, Elsewhere bool
				Root, GitHead     string
			}
		}
	}
	c.json(&run, "runs", "show", at.Data.Session.RunID)
	if k := run.Steps[0].Checks; len(k) != 1 || !k[0].Passed || !k[0].Elsewhere || k[0].GitHead != strings.Repeat("b1", 20) ||
		!strings.HasPrefix(k[0].Root, "sha256:") {
		t.Errorf("%+v", run)
	}
	if text := c.runPiped(0, "runs", "show", at.Data.Session.RunID); !strings.Contains(text, "checked in another folder than the run was started in") ||
		!strings.Contains(text, "at commit b1b1b1b1b1b1") {
		t.Error(text)
	}
	c.verified()
}

// TestAnswersNameChecks: an answer about a check without output has its end nevertheless, one about a changed file
// names it and the whole command, and the record of the attempt shows the same.
func TestAnswersNameChecks(t *testing.T) {
	t.Parallel()
	c := newChecked(t, flowWith("[sh, -c, 'exit 1']", "[tests.sh]"))
	at := byCLI(c, c.start(nil), submission{})
	if at.Kind != "blocked" || !strings.Contains(at.raw, `"check":{"exit":1,"id":"tests","outputTail":""}`) {
		t.Fatal(at.raw)
	}
	c.write("tests.sh", "exit 0\n")
	at = byCLI(c, at, submission{})
	if !strings.Contains(at.raw, `"check":{"changed":["tests.sh"],"id":"tests","outputTail":""}`) ||
		!strings.Contains(at.raw, "'waybill trust sha256:") {
		t.Fatal(at.raw)
	}
	out, err := c.cmd("runs", "show", at.Data.Session.RunID, "--step", "verify", "--json").Output()
	if err != nil || !strings.Contains(string(out), `"outputTail":""`) || !strings.Contains(string(out), `"changed":["tests.sh"]`) {
		t.Errorf("%v: %s", err, out)
	}
	c.verified()
}
