//go:build linux

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestServedInterrupts does with a server what the public scenarios about interrupts do, and looks closer: a subtest has the
// name of the scenario's file. None of them passes where a fixture is missing.
func TestServedInterrupts(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures", "--test-seams")
	low := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "low", "--scope", "runs:create,runs:read,runs:cancel"))
	for name, try := range map[string]func(scenario){
		"interrupt-approval": scenarioApproval, "interrupt-clarification": scenarioClarification,
		"interrupt-external-event-correlation": scenarioExternal, "interrupt-quorum-resolution": scenarioQuorum,
		"interrupt-auth-required-resume":    func(c scenario) { scenarioAuthRequired(c, low) },
		"conversationCapabilityNegotiation": scenarioConversation, "interruptRace": scenarioRace,
		"approval-payload": scenarioApprovalPayload, "interrupt-token-matrix": scenarioTokens,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

// suspended creates a run of a fixture that the host advertises, and waits until it is suspended at a node.
func (c scenario) suspended(fixture, status, node string) string {
	c.Helper()
	all, _ := c.as("").do("GET", "/.well-known/openwop", nil).json["fixtures"].([]any)
	if !slices.Contains(all, any(fixture)) {
		c.Fatalf("%s is not advertised: %v", fixture, all)
	}
	run := c.create(fixture, nil)
	if state := c.until(run, status); state["currentNodeId"] != node {
		c.Errorf("%s is suspended at %v", fixture, state["currentNodeId"])
	}
	return run
}

// answer answers the interrupt at a node.
func (c scenario) answer(run, node string, value any, more ...object) answered {
	c.Helper()
	body := object{"resumeValue": value}
	for _, m := range more {
		for name, v := range m {
			body[name] = v
		}
	}
	return c.do("POST", "/v1/runs/"+run+"/interrupts/"+node, body)
}

// resolved requires an answer that counted, and the status of the run after it.
func (c scenario) resolved(r answered, statuses ...string) {
	c.Helper()
	if status, _ := r.json["status"].(string); r.status != 200 || !slices.Contains(statuses, status) || r.json["interruptId"] == nil {
		c.Errorf("want 200 and one of %v: %d %s", statuses, r.status, r.text)
	}
}

// types are those of the events of a run, without those of vendors.
func (c scenario) types(run string) (out []string) {
	c.Helper()
	events, _ := c.poll(run, "")
	for _, e := range events {
		if word := e["type"].(string); !strings.HasPrefix(word, "waybill.") {
			out = append(out, word)
		}
	}
	return out
}

// payloads are those of the events of a run of one type.
func (c scenario) payloads(run, word string) (out []map[string]any) {
	c.Helper()
	events, _ := c.poll(run, "")
	for _, e := range events {
		if e["type"] == word {
			out = append(out, e["payload"].(map[string]any))
		}
	}
	return out
}

// onward are the states of a run whose last step was answered.
var onward = []string{"running", "completed"}

func scenarioApproval(c scenario) {
	run := c.suspended("conformance-approval", "waiting-approval", "gate")
	for _, value := range []any{object{"action": "maybe"}, object{}, "accept", object{"action": "accept", "surprise": 1},
		object{"action": "refine", "refineFeedback": object{"scope": "whole"}}} {
		c.envelope(c.answer(run, "gate", value), 400, "validation_error")
	}
	c.envelope(c.do("POST", "/v1/runs/"+run+"/interrupts/gate", object{"action": "accept"}), 400, "validation_error")
	c.envelope(c.answer(run, "no-such-node", object{"action": "accept"}), 404, "interrupt_not_found")
	c.envelope(c.answer("no-such-run", "gate", object{"action": "accept"}), 404, "run_not_found")
	c.until(run, "waiting-approval")
	c.resolved(c.answer(run, "gate", object{"action": "accept"}), onward...)
	c.until(run, "completed")
	// The same answer again is answered as it was; another one is not.
	c.resolved(c.answer(run, "gate", object{"action": "accept"}), "completed")
	c.envelope(c.answer(run, "gate", object{"action": "reject"}), 409, "interrupt_already_resolved")
	want := []string{"run.started", "node.started", "approval.requested", "node.suspended", "approval.received", "approval.granted",
		"interrupt.resolved", "node.resumed", "node.completed", "run.completed"}
	if got := c.types(run); !slices.Equal(got, want) {
		c.Errorf("%v", got)
	}
	if by := c.payloads(run, "approval.received")[0]; by["action"] != "accept" || by["decidedBy"] != "key:all" {
		c.Errorf("%v", by)
	}
	run = c.suspended("conformance-approval", "waiting-approval", "gate")
	c.resolved(c.answer(run, "gate", object{"action": "reject", "feedback": "no"}), "failed", "running")
	if problem, _ := c.until(run, "failed")["error"].(map[string]any); problem["code"] != "approval_rejected" {
		c.Errorf("%v", problem)
	}
}

func scenarioClarification(c scenario) {
	run := c.suspended("conformance-clarification", "waiting-input", "ask")
	for _, value := range []any{object{}, object{"answers": object{}}, object{"answers": object{"q2": "blue"}},
		object{"answers": object{"q1": nil}}, object{"answers": []any{object{"id": "q1"}}}} {
		c.envelope(c.answer(run, "ask", value), 400, "validation_error")
	}
	c.resolved(c.answer(run, "ask", object{"answers": object{"q1": "blue"}}), onward...)
	if variables, _ := c.until(run, "completed")["variables"].(map[string]any); variables["q1"] != "blue" {
		c.Errorf("%v", variables)
	}
	if got := c.payloads(run, "clarification.resolved"); len(got) != 1 || !reflect.DeepEqual(got[0]["answers"], map[string]any{"q1": "blue"}) {
		c.Errorf("%v", got)
	}
	c.envelope(c.answer(run, "ask", object{"answers": object{"q1": "red"}}), 409, "interrupt_already_resolved")
	run = c.suspended("conformance-clarification", "waiting-input", "ask")
	c.resolved(c.answer(run, "ask", object{"answers": []any{object{"id": "q1", "answer": "blue"}}}), onward...)
	c.until(run, "completed")
}

// token is the token of the interrupt that a run waits with.
func (c scenario) token(run string) string {
	c.Helper()
	of, _ := c.do("GET", "/v1/runs/"+run, nil).json["interrupt"].(map[string]any)
	text, _ := of["interruptToken"].(string)
	if url, _ := of["callbackUrl"].(string); text == "" || !strings.HasSuffix(url, "/v1/interrupts/"+text) {
		c.Fatalf("%v", of)
	}
	return text
}

func scenarioExternal(c scenario) {
	run := c.suspended("conformance-interrupt-external-event", "waiting-external", "wait-for-external")
	at, outside := "/v1/interrupts/"+c.token(run), c.as("")
	open := outside.do("GET", at, nil)
	data, _ := open.json["data"].(map[string]any)
	if open.status != 200 || open.json["kind"] != "external-event" || open.json["key"] != run+":wait-for-external:1" ||
		!reflect.DeepEqual(data["correlation"], map[string]any{"orderId": "fixture-order-1", "status": "completed"}) {
		c.Errorf("%d %s", open.status, open.text)
	}
	for _, event := range []any{object{"orderId": "different-order", "status": "completed"}, object{"orderId": "fixture-order-1"}} {
		c.envelope(outside.do("POST", at, object{"resumeValue": event}), 422, "correlation_mismatch")
		c.envelope(c.answer(run, "wait-for-external", event), 422, "correlation_mismatch")
	}
	c.envelope(outside.do("POST", at, object{"resumeValue": 7}), 400, "validation_error")
	c.until(run, "waiting-external")
	event := object{"orderId": "fixture-order-1", "status": "completed", "externalReference": "test-123"}
	c.resolved(outside.do("POST", at, object{"resumeValue": event}), onward...)
	variables, _ := c.until(run, "completed")["variables"].(map[string]any)
	if got, _ := variables["event"].(map[string]any); got["externalReference"] != "test-123" {
		c.Errorf("%v", variables)
	}
	if got := c.payloads(run, "interrupt.requested"); len(got) != 1 || got[0]["resumeSchema"] == nil {
		c.Errorf("%v", got)
	}
	run = c.suspended("conformance-interrupt-external-event", "waiting-external", "wait-for-external")
	c.resolved(c.answer(run, "wait-for-external", event), onward...)
	c.until(run, "completed")
}

func scenarioQuorum(c scenario) {
	run := c.suspended("conformance-interrupt-quorum", "waiting-approval", "gate")
	vote := func(run, action string, voter int) answered {
		return c.answer(run, "gate", object{"action": action, "voter": fmt.Sprint("approver-", voter)})
	}
	for i := range 2 {
		c.resolved(vote(run, "accept", i), "waiting-approval")
		c.until(run, "waiting-approval")
	}
	c.resolved(vote(run, "accept", 1), "waiting-approval") // counts once
	c.envelope(vote(run, "reject", 1), 409, "interrupt_already_resolved")
	c.until(run, "waiting-approval")
	c.resolved(vote(run, "accept", 3), onward...)
	c.until(run, "completed")
	var progress []string
	for _, p := range c.payloads(run, "approval.granted") {
		progress = append(progress, fmt.Sprint(p["principal"], p["quorumProgress"]))
	}
	if got := strings.Join(progress, " "); got != "approver-0map[granted:1 required:3] approver-1map[granted:2 required:3] "+
		"approver-3map[granted:3 required:3]" {
		c.Error(got)
	}
	run = c.suspended("conformance-interrupt-quorum", "waiting-approval", "gate")
	c.resolved(vote(run, "reject", 1), "waiting-approval")
	c.resolved(vote(run, "reject", 2), "failed", "running")
	if problem, _ := c.until(run, "failed")["error"].(map[string]any); problem["code"] != "approval_rejected" {
		c.Errorf("%v", problem)
	}
}

func scenarioAuthRequired(c scenario, low string) {
	run := c.suspended("conformance-interrupt-auth-required", "waiting-approval", "gate")
	c.envelope(c.as(low).answer(run, "gate", object{"action": "accept"}), 403, "forbidden")
	c.envelope(c.as("").answer(run, "gate", object{"action": "accept"}), 401, "unauthenticated")
	if state := c.until(run, "waiting-approval"); state["interrupt"] != nil {
		c.Errorf("a gate has a token: %v", state)
	}
	c.resolved(c.answer(run, "gate", object{"action": "accept"}), onward...)
	c.until(run, "completed")
	// A key that may not answer learns no token that may.
	run = c.suspended("conformance-interrupt-external-event", "waiting-external", "wait-for-external")
	if r := c.as(low).do("GET", "/v1/runs/"+run, nil); r.status != 200 || r.json["interrupt"] != nil {
		c.Errorf("%d %s", r.status, r.text)
	}
}

func scenarioConversation(c scenario) {
	const fixture = "conformance-conversation-capability-negotiation"
	caps := c.as("").do("GET", "/.well-known/openwop", nil)
	if all, _ := caps.json["fixtures"].([]any); !slices.Contains(all, any(fixture)) || strings.Contains(caps.text, "conversationPrimitive") {
		c.Errorf("%s", caps.text)
	}
	r := c.do("POST", "/v1/runs", object{"workflowId": fixture})
	c.envelope(r, 400, "capability_required")
	if details, _ := r.json["details"].(map[string]any); details["requiredCapability"] != "conversationPrimitive" {
		c.Error(r.text)
	}
}

// scenarioRace has a cancellation and an answer at once, and answers at once: one wins, and the run ends as it says.
func scenarioRace(c scenario) {
	for range 3 {
		run := c.suspended("conformance-approval", "waiting-approval", "gate")
		var cancel, accept answered
		var wait sync.WaitGroup
		wait.Go(func() { cancel = c.do("POST", "/v1/runs/"+run+"/cancel", object{"reason": "race"}) })
		wait.Go(func() { accept = c.answer(run, "gate", object{"action": "accept"}) })
		wait.Wait()
		if cancel.status != 200 || !slices.Contains([]int{200, 409, 410, 503}, accept.status) {
			c.Errorf("%d %s, %d %s", cancel.status, cancel.text, accept.status, accept.text)
		}
		want := "cancelled"
		if accept.status == 200 {
			want = "completed"
		}
		c.until(run, want)
	}
	run := c.suspended("conformance-approval", "waiting-approval", "gate")
	all := make([]answered, 8)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = c.answer(run, "gate", object{"action": "accept", "feedback": fmt.Sprint(i % 2)}) })
	}
	wait.Wait()
	won := map[int]bool{}
	for i, r := range all {
		if r.status == 200 {
			won[i%2] = true
		} else {
			c.envelope(r, 409, "interrupt_already_resolved")
		}
	}
	if len(won) != 1 {
		c.Errorf("%v", all)
	}
	c.until(run, "completed")
	if got := c.payloads(run, "approval.received"); len(got) != 1 {
		c.Errorf("%v", got)
	}
	run = c.suspended("conformance-approval", "waiting-approval", "gate")
	c.do("POST", "/v1/runs/"+run+"/cancel", object{})
	c.until(run, "cancelled")
	c.envelope(c.answer(run, "gate", object{"action": "accept"}), 410, "interrupt_expired")
}

func scenarioApprovalPayload(c scenario) {
	if r := c.as("").do("GET", "/.well-known/openwop", nil); r.status != 200 || strings.Contains(r.text, `"edit"`) {
		c.Errorf("%d %s", r.status, r.text)
	}
	run := c.suspended("conformance-approval", "waiting-approval", "gate")
	for _, action := range []string{"edit", "timeout", "refine", "edit-accept", "ask"} { // none is among the actions of the gate
		c.envelope(c.answer(run, "gate", object{"action": action}), 400, "validation_error")
	}
	if got := c.payloads(run, "approval.requested"); len(got) != 1 || fmt.Sprint(got[0]["actions"]) != "[accept reject]" ||
		got[0]["requiredApprovals"] != 1.0 {
		c.Errorf("%v", got)
	}
}

func scenarioTokens(c scenario) {
	c = c.as("")
	body := object{"correlation": object{}}
	for _, text := range []string{"!!!not-a-valid-token!!!", "tok_abcdefghijklmnopqrstuvwxyz", "int.v1.e30.e30", "st.v1.e30.e30"} {
		c.envelope(c.do("GET", "/v1/interrupts/"+text, nil), 404, "interrupt_not_found")
		c.envelope(c.do("POST", "/v1/interrupts/"+text, body), 404, "interrupt_not_found")
	}
	keyed := c.as(c.s.key)
	run := keyed.suspended("conformance-interrupt-external-event", "waiting-external", "wait-for-external")
	text := keyed.token(run)
	at := "/v1/interrupts/" + text
	for i := len(text) - 1; i > 0; i -= 7 { // each changed character
		other := []byte(text)
		if other[i]++; other[i] != '/' {
			c.envelope(c.do("GET", "/v1/interrupts/"+string(other), nil), 404, "interrupt_not_found")
		}
	}
	c.envelope(c.do("POST", at, body), 400, "validation_error")
	event := object{"resumeValue": object{"orderId": "fixture-order-1", "status": "completed"}}
	c.resolved(c.do("POST", at, event), onward...)
	c.envelope(c.do("POST", at, event), 409, "interrupt_already_resolved")
	c.envelope(c.do("GET", at, nil), 409, "interrupt_already_resolved")
	run = keyed.suspended("conformance-interrupt-external-event", "waiting-external", "wait-for-external")
	at = "/v1/interrupts/" + keyed.token(run)
	keyed.do("POST", "/v1/runs/"+run+"/cancel", object{})
	keyed.until(run, "cancelled")
	c.envelope(c.do("POST", at, event), 410, "interrupt_expired")
}
