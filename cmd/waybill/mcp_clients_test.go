package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

const looped = `id: test.rounds
name: Review rounds
description: Review until nothing is found.
version: 1.0.0
inputs:
  - {contextKey: customer, reason: needs_user_choice, choiceKind: scope_boundary, description: Who it is for}
steps:
  - id: plan
    title: Plan
    notesRequired: true
    prompt: %q
  - id: rounds
    title: Review
    type: loop
    loop:
      type: while
      maxIterations: 5
      conditionSource: {kind: artifact_contract, contractRef: wr.contracts.loop_control}
    body:
      - id: review
        title: Review, round {{currentIteration}}
        prompt: Review the change for {{customer}}. Continue if something was found.
        outputContract: {contractRef: wr.contracts.loop_control}
  - {id: end, title: End, prompt: Say what was found.}
`

// channel is what a client shows its agent of a result: one of its two parts. The other is removed before the
// agent gets it.
type channel string

const (
	textOnly       channel = "text"
	structuredOnly channel = "structured"
)

// shown is the document of a result in a channel.
func (c channel) shown(t *testing.T, result json.RawMessage) []byte {
	t.Helper()
	var res struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(result, &res); err != nil {
		t.Fatal(err)
	}
	if c == structuredOnly {
		return res.StructuredContent
	}
	if len(res.Content) != 1 || res.Content[0].Type != "text" {
		t.Fatalf("want one text: %s", result)
	}
	return []byte(res.Content[0].Text)
}

// loopAgent follows a workflow with what one channel shows. It knows the documents only, and sends the call
// that each prepares.
type loopAgent struct {
	*agent
	of    channel
	shown []byte // the last document
	path  []string
}

func (a *loopAgent) do(tool string, args any) (r reply) {
	a.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		a.t.Fatal(err)
	}
	a.shown = a.of.shown(a.t, a.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, raw)))
	if err := json.Unmarshal(a.shown, &r); err != nil {
		a.t.Fatalf("%v: %s", err, a.shown)
	}
	r.raw = string(a.shown)
	if r.Kind == "error" {
		a.t.Fatalf("%s: %s", tool, r.raw)
	}
	return r
}

// submit sends the prepared call with words, and the artifact that the step requires with a decision.
func (a *loopAgent) submit(r reply, decision string) reply {
	a.t.Helper()
	a.path = append(a.path, r.Data.Pending.StepInstanceKey)
	args := r.ready("Done for ACME.")
	output, _ := args["output"].(map[string]any)
	if asked, _ := output["artifacts"].([]any); len(asked) > 0 {
		for _, artifact := range asked {
			artifact.(map[string]any)["decision"] = decision
		}
	}
	return a.do(r.Data.Next.Tool, args)
}

var anyToken = expression(`(st|ack|chk)\.v1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)

// sizedRight checks that an answer is valid by the full schema of its kind, its size, and that nothing but its tokens occurs twice.
func sizedRight(t *testing.T, what string, r reply) {
	t.Helper()
	d := r.Data
	if err := validDocument([]byte(r.raw)); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if d.Pending == nil {
		return
	}
	var doc struct {
		Data struct {
			Blockers canon.Value
			Recap    string
		}
	}
	if err := json.Unmarshal([]byte(r.raw), &doc); err != nil {
		t.Fatal(err)
	}
	parts := len(d.Pending.Prompt) + len(doc.Data.Recap)
	if len(d.Blockers) > 0 {
		parts += len(doc.Data.Blockers.JCS())
	}
	once, all, times := parts, parts, map[string]int{}
	for _, token := range anyToken().FindAllString(r.raw, -1) {
		if times[token]++; times[token] == 1 {
			once += len(token)
		}
		all += len(token)
	}
	for token, n := range times {
		if most := map[bool]int{true: 1, false: 2}[strings.HasPrefix(token, "chk.")]; n > most {
			t.Errorf("%s: %.10s… occurs %d times: %s", what, token, n, r.raw)
		}
	}
	if len(times) != 3 && d.Next != nil {
		t.Errorf("%s: %d tokens", what, len(times))
	}
	const enough = 2000 // bytes of a prompt beside which the repeated tokens do not count
	t.Logf("%s: %d bytes, %.2f of its parts with each token once, %.2f with all", what, len(r.raw),
		float64(len(r.raw))/float64(once), float64(len(r.raw))/float64(all))
	if 2*len(r.raw) > 3*all || len(d.Pending.Prompt) >= enough && 2*len(r.raw) > 3*once {
		t.Errorf("%s: %d bytes, its parts have %d, with each token once %d", what, len(r.raw), all, once)
	}
	for _, part := range []string{d.Pending.Prompt, doc.Data.Recap} {
		quoted, _ := json.Marshal(part)
		if len(part) > 20 && strings.Count(r.raw, strings.Trim(string(quoted), `"`)) > 1 {
			t.Errorf("%s: a text occurs twice: %s", what, r.raw)
		}
	}
}

// TestClientsOfOneChannelCompleteALoop: a client that shows its agent only the text of results and one that
// shows only the structured content each complete a workflow with a loop, and each answer is short.
func TestClientsOfOneChannelCompleteALoop(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Say what you plan, and why.\n", 80)
	for _, of := range []channel{textOnly, structuredOnly} {
		p := programWithWorkflows(t, "test.talk")
		p.writeFile(".waybill/workflows/rounds.yaml", fmt.Sprintf(looped, long))
		a := &loopAgent{agent: p.agent(), of: of}
		r := a.do("start_workflow", map[string]any{"workflowId": "test.rounds"})
		run := r.Data.Session.RunID
		sizedRight(t, "start", r)
		blocked := a.do("continue_workflow", map[string]any{"stateToken": r.Data.StateToken, "ackToken": r.Data.AckToken})
		if blocked.Kind != "blocked" || len(blocked.Data.Blockers) == 0 {
			t.Fatalf("%s: got %s", of, blocked.raw)
		}
		sizedRight(t, "blocked", blocked)
		r = a.submit(blocked, "")
		for round := 0; !r.Data.IsComplete; round++ {
			if round > 10 {
				t.Fatalf("%s: no end: %q", of, a.path)
			}
			sizedRight(t, "continue", r)
			// A chat that lost its tokens reads the step again.
			again := a.do("continue_workflow", map[string]any{"stateToken": r.Data.StateToken})
			sizedRight(t, "rehydrate", again)
			r = a.submit(again, map[bool]string{true: "continue", false: "stop"}[round < 2])
		}
		if got := strings.Join(a.path, " "); got != "plan rounds@0::review rounds@1::review rounds@2::review end" {
			t.Errorf("%s: the path is %s", of, got)
		}
		a.ends()
		p.verified()
		var shown struct{ Status string }
		p.json(&shown, "runs", "show", run)
		if shown.Status != "complete" {
			t.Errorf("%s: the run is %s", of, shown.Status)
		}
	}
}

// TestAnswersWithoutNextCommand: an agent gets the command line of a step that only a command performs, and
// no other.
func TestAnswersWithoutNextCommand(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	p.writeFile(".waybill/workflows/act.yaml", "id: test.act\nname: Act\ndescription: d\nversion: 1.0.0\n"+
		"steps: [{id: one, title: One, action: {kind: command, argv: ['true']}}]\n")
	c := p.agent()
	if r := c.tool("start_workflow", `{"workflowId":"test.act"}`); len(r.Data.Next.Command) == 0 ||
		!strings.Contains(strings.Join(r.Data.Next.Command, " "), "run") || !strings.Contains(r.raw, r.Data.Session.RunID) {
		t.Errorf("got %s", r.raw)
	}
	if r := c.tool("start_workflow", `{"workflowId":"test.talk"}`); len(r.Data.Next.Command) != 0 ||
		strings.Contains(r.raw, "workflowHash") {
		t.Errorf("got %s", r.raw)
	}
	found := c.tool("resume_session", `{}`)
	for token, n := range tokensOf(found.raw) {
		if n > 2 {
			t.Errorf("%.10s… occurs %d times: %s", token, n, found.raw)
		}
	}
	c.ends()
}

// tokensOf counts the tokens in a document.
func tokensOf(raw string) map[string]int {
	out := map[string]int{}
	for _, token := range anyToken().FindAllString(raw, -1) {
		out[token]++
	}
	return out
}

// TestRunIsFoundByItsFirstStep: in a new chat, by words of the notes of the first step, while it is the latest
// with notes.
func TestRunIsFoundByItsFirstStep(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk", "test.walk")
	c := p.agent()
	one := c.tool("start_workflow", `{"workflowId":"test.talk"}`)
	c.tool("continue_workflow", one.ready("Measured the orchard with a theodolite."))
	other := c.tool("start_workflow", `{"workflowId":"test.walk"}`)
	c.tool("continue_workflow", other.ready("Walked to the river."))
	c.ends()

	c = p.agent()
	found := c.tool("resume_session", `{"query":"theodolite orchard"}`)
	if len(found.Data.Candidates) == 0 || found.Data.Candidates[0].RunID != one.Data.Session.RunID ||
		!strings.Contains(found.raw, "matched_notes") {
		t.Fatalf("got %s", found.raw)
	}
	if step := c.tool("continue_workflow",
		map[string]any{"stateToken": found.Data.Candidates[0].StateToken}); step.Data.Pending.StepID != "two" {
		t.Errorf("got %s", step.raw)
	}
	c.ends()
}
