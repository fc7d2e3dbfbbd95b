//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/consent"
)

// answeredFlow has a step for each kind of what a run of this store waits for.
const answeredFlow = `{"id":"test.answered","name":"Answered","description":"d","version":"1.0.0","steps":[
 {"id":"read","title":"Read","prompt":"Read it."},
 {"id":"say","title":"Say","prompt":"Say it.","notesRequired":true},
 {"id":"who","title":"Who","prompt":"Whose?","inputs":[{"contextKey":"owner","reason":"needs_user_artifact","description":"The owner"}]},
 {"id":"sure","title":"Sure","prompt":"Sure?","requireConfirmation":true}]}`

// face makes the calls of one run of answeredFlow, and returns the run.
type face func(t *testing.T, s *served) string

// facesOf are the command line, MCP and HTTP.
func facesOf() map[string]face {
	return map[string]face{"cli": func(t *testing.T, s *served) string {
		var doc struct{ Session struct{ RunID string } }
		s.json(&doc, "start", "test.answered")
		run := doc.Session.RunID
		for _, args := range [][]string{{"--notes", "Read."}, {"--set", "x=1"}, {"--notes", "Done.", "--set", "y=2"},
			{"--set", "owner=ada"}, {"--notes", "Sure."}} {
			s.runPiped(map[bool]int{true: 3}[args[0] == "--set" && args[1] == "x=1"], append([]string{"continue", "--run", run}, args...)...)
		}
		return run
	}, "mcp": func(t *testing.T, s *served) string {
		c := s.agent()
		at := c.tool("start_workflow", doc{"workflowId": "test.answered"})
		run := at.Data.Session.RunID
		for _, in := range []doc{{"output": doc{"notesMarkdown": "Read."}}, {"context": doc{"x": 1}},
			{"output": doc{"notesMarkdown": "Done."}, "context": doc{"y": 2}}, {"context": doc{"owner": "ada"}},
			{"output": doc{"notesMarkdown": "Sure."}}} {
			in["stateToken"], in["ackToken"] = at.Data.StateToken, at.Data.AckToken
			if at = c.tool("continue_workflow", in); at.isError {
				t.Fatal(at.raw)
			}
		}
		return run
	}, "http": func(t *testing.T, s *served) string {
		c := scenario{t, s, s.key}
		run := c.create("test.answered", nil)
		c.resolved(c.answer(run, "read", object{"notesMarkdown": "Read."}), "waiting-input")
		r := c.answer(run, "say", object{"context": object{"x": 1}})
		c.envelope(r, 422, "unprocessable")
		if !strings.Contains(r.text, "MISSING_REQUIRED_NOTES") && !strings.Contains(r.text, "notes") {
			c.Error(r.text)
		}
		c.resolved(c.answer(run, "say", object{"notesMarkdown": "Done.", "context": object{"y": 2}}), "waiting-input")
		c.resolved(c.answer(run, "who", object{"answers": object{"owner": "ada"}}), "waiting-approval")
		c.resolved(c.answer(run, "sure", object{"action": "accept", "notesMarkdown": "Sure."}), "completed")
		return run
	}}
}

// TestThreeFacesOfOneRun: the same run of person steps, made over the command line, MCP and HTTP, has the same log but for ids,
// times, actors and digests of requests.
func TestThreeFacesOfOneRun(t *testing.T) {
	t.Parallel()
	s := serveAt(t, answeredFlow)
	s.configure("autonomy", "guided")
	s.configure("agentMaxAutonomy", "guided")
	logs := map[string]string{}
	for name, make := range facesOf() {
		run := make(t, s)
		if logs[name] = strings.Join(s.eventsOf(run), "\n"); strings.Count(logs[name], `"advance_recorded"`) != 5 {
			t.Errorf("%s:\n%s", name, logs[name])
		}
	}
	for _, name := range []string{"mcp", "http"} {
		got, want := strings.Split(logs[name], "\n"), strings.Split(logs["cli"], "\n")
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: %s\ncli: %s", name, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d events, cli %d", name, len(got), len(want))
		}
	}
	s.runPiped(0, "verify")
}

// TestServedAnswersToPersonSteps: answers of a form that the kind does not have are refused before anything is recorded; the
// same answer again is answered as it was, another one is refused; a rejection ends the run.
func TestServedAnswersToPersonSteps(t *testing.T) {
	t.Parallel()
	s := serveAt(t, answeredFlow)
	s.configure("autonomy", "guided")
	c := scenario{t, s, s.key}
	run := c.create("test.answered", nil)
	if state := c.until(run, "waiting-input"); state["currentNodeId"] != "read" || state["interrupt"] != nil {
		t.Errorf("%v", state)
	}
	before := len(s.eventsOf(run))
	for _, value := range []any{object{"notesMarkdown": 7}, object{"action": "accept"}, "text", nil, object{"artifacts": object{}},
		object{"context": []any{}}} {
		c.envelope(c.answer(run, "read", value), 400, "validation_error")
	}
	c.envelope(c.answer(run, "read", object{"notesMarkdown": "…"}), 400, "validation_error")
	c.envelope(c.answer(run, "read", object{}, object{"signed": object{}, "signature": "x"}), 400, "validation_error")
	c.envelope(c.answer(run, "say", object{"notesMarkdown": "early"}), 404, "interrupt_not_found")
	if after := len(s.eventsOf(run)); after != before {
		t.Errorf("%d events more", after-before)
	}
	read := object{"notesMarkdown": "Read.", "artifacts": []any{object{"kind": "note", "text": "a"}}}
	c.resolved(c.answer(run, "read", read), "waiting-input")
	before = len(s.eventsOf(run))
	c.resolved(c.answer(run, "read", read), "waiting-input")
	c.envelope(c.answer(run, "read", object{"notesMarkdown": "Other."}), 409, "interrupt_already_resolved")
	if after := len(s.eventsOf(run)); after != before {
		t.Errorf("%d events more", after-before)
	}
	c.resolved(c.answer(run, "say", object{"notesMarkdown": "Done."}), "waiting-input")
	c.envelope(c.answer(run, "who", object{"answers": object{"another": "ada"}}), 400, "validation_error")
	c.resolved(c.answer(run, "who", object{"answers": object{"owner": "ada"}}), "waiting-approval")
	c.envelope(c.answer(run, "sure", object{"action": "refine", "refineFeedback": object{"scope": "whole"}}), 400, "validation_error")
	c.resolved(c.answer(run, "sure", object{"action": "ask", "question": "why"}), "waiting-approval")
	c.resolved(c.answer(run, "sure", object{"action": "reject", "feedback": "not this"}), "failed")
	c.envelope(c.answer(run, "sure", object{"action": "reject", "feedback": "not this"}), 410, "interrupt_expired")
	if problem, _ := c.until(run, "failed")["error"].(map[string]any); !strings.Contains(fmt.Sprint(problem), "not this") {
		t.Errorf("%v", problem)
	}
}

// performedFlow has steps of performers that wait for an answer first.
const performedFlow = `{"id":"test.performed","name":"Performed","description":"d","version":"1.0.0","steps":[
 {"id":"asked","title":"Asked","action":{"kind":"host","typeId":"core.identity"},
  "inputs":[{"contextKey":"colour","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["red","blue"],"description":"A colour"}]},
 {"id":"run","title":"Run","requireConfirmation":true,"action":{"kind":"command","argv":["sh","-c","echo \"$1\" >>out","sh","{{colour}}"]}},
 {"id":"again","title":"Again","requireConfirmation":true,"action":{"kind":"command","argv":["sh","-c","echo again >>out"]}}]}`

// TestServedAnswersToPerformers: an input that is asked for, and confirmations of commands: each is for its step alone, and a
// command runs once.
func TestServedAnswersToPerformers(t *testing.T) {
	t.Parallel()
	s := serveAt(t, performedFlow)
	s.configure("autonomy", "guided")
	c := scenario{t, s, s.key}
	run := c.create("test.performed", nil)
	c.until(run, "waiting-input")
	c.envelope(c.answer(run, "asked", object{"answers": object{"colour": "green"}}), 400, "validation_error")
	answers := object{"answers": object{"colour": "blue"}}
	c.resolved(c.answer(run, "asked", answers), "running", "waiting-approval")
	c.until(run, "waiting-approval")
	c.resolved(c.answer(run, "asked", answers), "waiting-approval")
	c.envelope(c.answer(run, "asked", object{"answers": object{"colour": "red"}}), 409, "interrupt_already_resolved")
	c.resolved(c.answer(run, "run", object{"action": "accept"}), "running", "waiting-approval")
	if state := c.until(run, "waiting-approval"); state["currentNodeId"] != "again" {
		t.Errorf("%v", state)
	}
	if got := s.read("out"); got != "blue\n" {
		t.Errorf("%q", got)
	}
	c.resolved(c.answer(run, "again", object{"action": "accept"}), onward...)
	c.until(run, "completed")
	if got := s.read("out"); got != "blue\nagain\n" {
		t.Errorf("%q", got)
	}
	s.runPiped(0, "verify")
}

// TestServedTimeout: a gate without an answer in time fails, also where an answer is counted already.
func TestServedTimeout(t *testing.T) {
	t.Parallel()
	s := serveAt(t, `{"id":"test.timeout","name":"T","description":"d","version":"1.0.0","steps":[{"id":"gate","title":"G",
		"action":{"kind":"host","typeId":"core.approvalGate","config":{"requiredApprovals":2,"timeoutMs":1500,"approvers":["ada","bob"]}}}]}`)
	c := scenario{t, s, s.key}
	run := c.create("test.timeout", nil)
	c.until(run, "waiting-approval")
	c.envelope(c.answer(run, "gate", object{"action": "accept"}), 403, "forbidden") // the name of the key is none of the approvers
	c.resolved(c.answer(run, "gate", object{"action": "accept", "voter": "ada"}), "waiting-approval")
	if problem, _ := c.until(run, "failed")["error"].(map[string]any); problem["code"] != "interrupt_timeout" {
		t.Errorf("%v", problem)
	}
	got := c.payloads(run, "approval.received")
	if len(got) != 2 || got[1]["action"] != "timeout" {
		t.Errorf("%v", got)
	}
	s.runPiped(0, "verify")
}

// TestServedAnswersAreNotLost: the server is killed while runs become suspended and while they are answered; each answer is
// sent until it is acknowledged. Each run continues once.
func TestServedAnswersAreNotLost(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	c := s.client()
	for i, of := range []struct{ fixture, node, received string }{{"conformance-approval", "gate", "approval.received"},
		{"conformance-clarification", "ask", "clarification.resolved"},
		{"conformance-interrupt-external-event", "wait-for-external", "interrupt.resolved"}} {
		var run string
		s.leg("suspend "+of.fixture, true, func() (err error) {
			run, _, err = c.Create(t.Context(), fmt.Sprint("create-", i), object{"workflowId": of.fixture})
			return err
		})
		status := map[int]string{0: "waiting-approval", 1: "waiting-input", 2: "waiting-external"}[i]
		s.until(c, run, status)
		value := map[int]object{0: {"action": "accept"}, 1: {"answers": object{"q1": "blue"}},
			2: {"orderId": "fixture-order-1", "status": "completed"}}[i]
		s.leg("answer "+of.fixture, true, func() error {
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			_, err := c.Answer(t.Context(), fmt.Sprint("answer-", i), run, of.node, value)
			return err
		})
		s.until(c, run, "completed")
		events, err := c.Events(t.Context(), run, "")
		if err != nil {
			t.Fatal(err)
		}
		count := map[any]int{}
		for _, e := range events {
			count[e["type"]]++
		}
		if count[of.received] != 1 || count["node.suspended"] != 1 || count["node.resumed"] != 1 || count["run.completed"] != 1 {
			t.Errorf("%s: %v", of.fixture, count)
		}
	}
	s.runPiped(0, "verify")
}

// TestServedAnswersMeetOneGate: of answers to a gate at once one counts, and none reaches the gate behind it.
func TestServedAnswersMeetOneGate(t *testing.T) {
	t.Parallel()
	s := serveAt(t, `{"id":"test.gates","name":"G","description":"d","version":"1.0.0","steps":[
		{"id":"one","title":"1","action":{"kind":"host","typeId":"core.approvalGate"}},
		{"id":"two","title":"2","action":{"kind":"host","typeId":"core.approvalGate"}}]}`)
	c := scenario{t, s, s.key}
	run := c.create("test.gates", nil)
	c.until(run, "waiting-approval")
	all := make([]answered, 8)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = c.answer(run, "one", object{"action": "accept", "voter": fmt.Sprint("v", i)}) })
	}
	wait.Wait()
	won := 0
	for _, r := range all {
		if r.status == 200 {
			won++
		} else {
			c.envelope(r, 409, "interrupt_already_resolved")
		}
	}
	if state := c.until(run, "waiting-approval"); won != 1 || state["currentNodeId"] != "two" || len(c.payloads(run, "approval.received")) != 1 {
		t.Errorf("%d answers counted: %v", won, state)
	}
}

// approvedFlow has a step that a person approves.
const approvedFlow = `{"id":"test.approved","name":"Approved","description":"d","version":"1.0.0","steps":[
 {"id":"plan","title":"Plan","prompt":"Plan it.","requireConfirmation":{"kind":"human_approval"}},
 {"id":"host","title":"Host","action":{"kind":"host","typeId":"core.noop"},"requireConfirmation":{"kind":"human_approval"}}]}`

// TestServedDecisionsNeedASigner: a key with every scope hands in work for a step that a person approves, and decides nothing
// about it but with the signature of a signer, over exactly this decision.
func TestServedDecisionsNeedASigner(t *testing.T) {
	t.Parallel()
	s := serveAt(t, approvedFlow)
	p := &signedStore{program: s.program}
	c := scenario{t, s, s.key}
	run := c.create("test.approved", nil)
	c.until(run, "waiting-approval")
	c.resolved(c.answer(run, "plan", object{"notesMarkdown": "A plan."}), "waiting-approval")
	accept, before := object{"action": "accept"}, s.eventsOf(run)
	forbidden := func() {
		t.Helper()
		for _, value := range []object{accept, {"action": "reject", "feedback": "no"}, {"action": "accept", "voter": "ada", "decidedBy": "ada"},
			{"action": "refine", "refineFeedback": object{"scope": "whole", "text": "more"}}} {
			c.envelope(c.answer(run, "plan", value), 403, "forbidden")
		}
		c.resolved(c.answer(run, "plan", object{"action": "ask", "question": "why"}), "waiting-approval")
		if after := s.eventsOf(run); !slices.Equal(before, after) {
			t.Errorf("%v", after)
		}
	}
	forbidden() // a store without signers
	c.envelope(c.answer(run, "plan", accept, object{"signed": object{}, "signature": "x"}), 403, "forbidden")
	s.writeFile("allowed", "ada "+adaPlain.Public()+"\n")
	s.atTerminal(0, "y", "config", "set", "signers", "@allowed")
	run = c.create("test.approved", nil) // the run states its signers
	c.until(run, "waiting-approval")
	c.resolved(c.answer(run, "plan", object{"notesMarkdown": "A plan."}), "waiting-approval")
	before = s.eventsOf(run)
	forbidden()
	consentOf := func(text, signature string) object {
		var signed any
		if err := json.Unmarshal([]byte(text), &signed); err != nil {
			t.Fatal(err)
		}
		return object{"signed": signed, "signature": signature}
	}
	text := p.payload("approve", run)
	good := consentOf(text, adaPlain.Armoured([]byte(text), consent.Namespace))
	other := p.payload("deny", run, "--reason", "no")
	for what, with := range map[string]object{
		"of no signer":        consentOf(text, evePlain.Armoured([]byte(text), consent.Namespace)),
		"of another purpose":  consentOf(text, adaPlain.Armoured([]byte(text), "file")),
		"of another decision": consentOf(other, adaPlain.Armoured([]byte(other), consent.Namespace)),
		"of another text":     {"signed": good["signed"], "signature": adaPlain.Armoured([]byte(text+" "), consent.Namespace)},
	} {
		if r := c.answer(run, "plan", accept, with); r.status != 403 {
			t.Errorf("a signature %s: %d %s", what, r.status, r.text)
		}
	}
	c.resolved(c.answer(run, "plan", accept, good), "running", "waiting-approval")
	if state := c.until(run, "waiting-approval"); state["currentNodeId"] != "host" {
		t.Fatalf("%v", state)
	}
	// The same text counts once: the decision about the next step has its own.
	c.envelope(c.answer(run, "host", accept, good), 403, "forbidden")
	text = p.payload("approve", run)
	c.resolved(c.answer(run, "host", accept, consentOf(text, adaPlain.Armoured([]byte(text), consent.Namespace))), "running", "waiting-approval", "completed")
	c.until(run, "completed")
	if by := c.payloads(run, "approval.received"); len(by) != 2 || by[0]["decidedBy"] != "ada" {
		t.Errorf("%v", by)
	}
	s.runPiped(0, "verify")
	s.runPiped(0, "verify", "--signers", "allowed")
}

// read returns the text of a file in the folder of the program.
func (s *served) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// tokenText is what only a token of an interrupt has.
var tokenText = expression(`int\.v1\.`)

// TestInterruptTokensAreStoredNowhere: no file of a store has the token of an interrupt that was shown and used.
func TestInterruptTokensAreStoredNowhere(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	c := scenario{t, s, s.key}
	run := c.suspended("conformance-interrupt-external-event", "waiting-external", "wait-for-external")
	token := c.token(run)
	s.kill()
	s.start()
	if again := c.token(run); again != token {
		t.Error("the token is another one after a new start")
	}
	c.resolved(c.as("").do("POST", "/v1/interrupts/"+token, object{"resumeValue": object{"orderId": "fixture-order-1", "status": "completed"}}),
		onward...)
	c.until(run, "completed")
	for name, data := range (&signedStore{program: s.program}).tree(true) {
		if tokenText().MatchString(data) {
			t.Errorf("%s has a token", name)
		}
	}
}
