package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const asking = `id: test.asking
name: Asking
description: Asks the user.
version: 1.0.0
inputs:
  - {contextKey: customer, reason: needs_user_choice, choiceKind: scope_boundary, description: Who it is for}
  - {contextKey: password, reason: needs_user_secret_or_token, description: The password}
steps:
  - {id: one, title: One, prompt: Do the first thing., notesRequired: true}
  - {id: two, title: Two, prompt: Do the second thing., requireConfirmation: true}
  - id: three
    title: Three
    prompt: Do the third thing.
    inputs:
      - {contextKey: size, reason: needs_user_choice, choiceKind: scope_boundary, choices: [small, large], description: How big}
  - {id: four, title: Four, prompt: Ship it., requireConfirmation: {kind: human_approval}}
`

// askedAgent is an agent whose client shows forms to its user.
type askedAgent struct {
	*agent
	forms  []string // parameters of the questions
	answer string   // of the user: the result of the next question
}

const traced = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func newAskedAgent(p program) *askedAgent {
	p.t.Helper()
	c := serverOf(p.t, p.command("mcp"))
	c.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"tester","version":"1"}}`)
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return &askedAgent{agent: c}
}

// submit calls continue_workflow, and answers questions meanwhile.
func (a *askedAgent) submit(args map[string]any) reply {
	a.t.Helper()
	raw, _ := json.Marshal(args)
	a.next++
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"continue_workflow","arguments":%s,`+
		`"_meta":{"traceparent":%q}}}`, a.next, raw, traced))
	for {
		line, err := a.out.ReadString('\n')
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
		}
		if err != nil || json.Unmarshal([]byte(line), &m) != nil {
			a.t.Fatalf("%v: %s", err, line)
		}
		switch {
		case m.Method == "elicitation/create":
			a.forms = append(a.forms, string(m.Params))
			a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, a.answer))
		case m.Method == "":
			return a.reply(m.Result)
		}
	}
}

// form is the last question; its number is checked.
func (a *askedAgent) form(n int) string {
	a.t.Helper()
	if len(a.forms) != n {
		a.t.Fatalf("%d questions, want %d: %q", len(a.forms), n, a.forms)
	}
	return a.forms[n-1]
}

// notes is the prepared call of an answer, without the inputs that it names.
func notes(r reply) map[string]any {
	args := r.ready("Done.")
	delete(args, "context")
	return args
}

// TestUserAnswersForms: inputs, a choice and a confirmation come from the user of the client and are recorded
// as such. A secret and an approval are never asked for; a user who declines leaves the step as it is.
func TestUserAnswersForms(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	p.writeFile(".waybill/workflows/asking.yaml", asking)
	a := newAskedAgent(p)
	one := a.tool("start_workflow", `{"workflowId":"test.asking","context":{"password":"ref:vault"}}`)

	a.answer = `{"action":"decline"}`
	first := notes(one)
	blocked := a.submit(first)
	if form := a.form(1); !strings.Contains(form, `"customer"`) || strings.Contains(form, "password") ||
		!strings.Contains(form, "Who it is for") || !strings.Contains(form, one.Data.Session.RunID) {
		t.Errorf("asked %s", form)
	}
	if blocked.Kind != "blocked" || len(blocked.Data.Blockers) != 1 || blocked.Data.Pending.StepID != "one" {
		t.Fatalf("declined: %s", blocked.raw)
	}

	a.answer = `{"action":"accept","content":{"customer":"ACME","password":"hunter2"}}`
	accepted := notes(blocked)
	two := a.submit(accepted)
	if two.Kind != "step" || two.Data.Pending.StepID != "two" {
		t.Fatalf("got %s", two.raw)
	}
	// The same call is answered from the log: nothing is asked, and nothing differs.
	a.form(2)
	if again := a.submit(accepted); again.raw != two.raw {
		t.Errorf("the same call gives %s", again.raw)
	}
	a.form(2)

	// Without the confirmation nothing is recorded.
	a.answer = `{"action":"cancel"}`
	same := a.submit(notes(two))
	if form := a.form(3); !strings.Contains(form, "confirmation") {
		t.Errorf("asked %s", form)
	}
	if same.Kind != "step" || same.Data.Pending.StepID != "two" || !strings.Contains(same.raw, `"NOT_CONFIRMED"`) ||
		same.Data.AckToken != two.Data.AckToken {
		t.Fatalf("got %s", same.raw)
	}
	a.answer = `{"action":"accept"}`
	three := a.submit(notes(same))
	if three.Data.Pending.StepID != "three" {
		t.Fatalf("got %s", three.raw)
	}

	// What the agent sends itself is not asked for.
	own := three.ready("Done.")
	own["context"] = map[string]any{"size": "huge"}
	wrong := a.submit(own)
	a.form(4)
	if wrong.Kind != "blocked" {
		t.Fatalf("got %s", wrong.raw)
	}
	a.answer = `{"action":"accept","content":{"size":"large"}}`
	four := a.submit(notes(wrong))
	if form := a.form(5); !strings.Contains(form, `"enum":["small","large"]`) {
		t.Errorf("asked %s", form)
	}
	if four.Data.Pending.StepID != "four" {
		t.Fatalf("got %s", four.raw)
	}
	// An approval is a person's at a terminal.
	if r := a.submit(notes(four)); r.Kind != "blocked" || r.Data.Pending.StepID != "four" {
		t.Errorf("got %s", r.raw)
	}
	a.form(5)
	a.ends()
	p.verified()
	elicitedAsRecorded(t, p)
}

// elicitedAsRecorded checks the log, the document of the run, a step of it, and a re-execution.
func elicitedAsRecorded(t *testing.T, p program) {
	t.Helper()
	var log struct {
		Events []struct {
			Kind  string
			Actor struct{ Kind string }
			Data  struct {
				Elicited    json.RawMessage
				Traceparent string
			}
		}
	}
	p.json(&log, "runs", "events", "@last")
	var marks []string
	for _, e := range log.Events {
		if e.Kind == "advance_recorded" {
			marks = append(marks, string(e.Data.Elicited))
			if e.Data.Traceparent != traced || e.Actor.Kind != "agent" {
				t.Errorf("an attempt of %s with the trace context %q", e.Actor.Kind, e.Data.Traceparent)
			}
		}
	}
	if got := strings.Join(marks, " "); got != ` {"inputs":["customer"]} {"confirmation":true}  {"inputs":["size"]} ` {
		t.Errorf("recorded as elicited: %s", got)
	}
	var shown struct {
		Steps []struct {
			StepID      string
			Elicited    json.RawMessage
			Traceparent string
		}
		Context map[string]any
	}
	p.json(&shown, "runs", "show", "@last")
	if len(shown.Steps) < 3 || string(shown.Steps[0].Elicited) != `{"inputs":["customer"]}` ||
		string(shown.Steps[1].Elicited) != `{"confirmation":true}` || shown.Steps[2].Traceparent != traced ||
		shown.Context["customer"] != "ACME" || shown.Context["size"] != "large" || shown.Context["password"] != "ref:vault" {
		t.Errorf("got %+v", shown)
	}
	text := p.runPiped(0, "runs", "show", "@last", "--step", "two")
	if !strings.Contains(text, "asked its user for: the confirmation of the step") ||
		!strings.Contains(text, "traceparent "+traced) {
		t.Errorf("the step is shown as\n%s", text)
	}
	var replayed struct{ OK bool }
	if p.json(&replayed, "replay", "@last"); !replayed.OK {
		t.Errorf("the run is not re-executed to the same bytes")
	}
}

// TestPromptsAndResources: of the workflows and runs of this moment.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	c := p.agent()
	p.writeFile(".waybill/workflows/asking.yaml", asking) // the server runs
	p.writeFile(".waybill/workflows/broken.yaml", "id: test.broken\nname: B\n")
	var list struct {
		Prompts []struct {
			Name      string
			Arguments []struct {
				Name     string
				Required bool
			}
		}
	}
	if err := json.Unmarshal(c.call("prompts/list", "{}"), &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, prompt := range list.Prompts {
		found[prompt.Name] = fmt.Sprint(prompt.Arguments)
	}
	if found["test.asking"] != "[{customer true} {size false}]" || found["test.talk"] != "[{customer false}]" ||
		found["wr.demo"] == "" || found["test.broken"] != "" {
		t.Errorf("got %v", found)
	}
	var prompt struct {
		Messages []struct{ Content struct{ Text string } }
	}
	raw := c.call("prompts/get", `{"name":"test.asking","arguments":{"customer":"ACME"}}`)
	if err := json.Unmarshal(raw, &prompt); err != nil {
		t.Fatal(err)
	}
	// The call in the text starts the workflow with the value.
	_, after, _ := strings.Cut(prompt.Messages[0].Content.Text, "\n\n")
	call, _, _ := strings.Cut(after, "\n")
	started := c.tool("start_workflow", call)
	if started.Kind != "step" {
		t.Fatalf("%s: %s", call, started.raw)
	}
	run := started.Data.Session.RunID
	read := func(uri string) (doc struct {
		Kind string
		Data struct {
			RunID, WorkflowID string
			Context           map[string]any
		}
	}) {
		t.Helper()
		var res struct{ Contents []struct{ Text string } }
		if err := json.Unmarshal(c.call("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)), &res); err != nil ||
			json.Unmarshal([]byte(res.Contents[0].Text), &doc) != nil {
			t.Fatalf("%s: %v %+v", uri, err, res)
		}
		return doc
	}
	if doc := read("waybill://run/" + run); doc.Kind != "run" || doc.Data.RunID != run ||
		doc.Data.Context["customer"] != "ACME" {
		t.Errorf("got %+v", doc)
	}
	if doc := read("waybill://workflow/test.asking"); doc.Kind != "workflow" || doc.Data.WorkflowID != "test.asking" {
		t.Errorf("got %+v", doc)
	}
	if all := string(c.call("resources/list", "{}")); !strings.Contains(all, "waybill://run/"+run) ||
		!strings.Contains(all, "waybill://workflow/test.asking") || strings.Contains(all, "test.broken") {
		t.Errorf("got %s", all)
	}
	for _, uri := range []string{"waybill://run/" + run[:12], "waybill://run/@last", "waybill://run/../keys",
		"waybill://run/run_aaaaaaaaaaaaaaaaaaaaaaaaaa", "waybill://workflow/test.none",
		"waybill://workflow/.waybill/workflows/asking.yaml"} {
		c.next++
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, c.next, uri))
		if _, result, problem := c.message(); problem == "" || result != nil {
			t.Errorf("%s: %q %s", uri, problem, result)
		}
	}
	c.ends()
	p.verified()
}
