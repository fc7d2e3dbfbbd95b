//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

// TestServedSeams does with a server what the public scenarios about prompts, providers and envelopes do, and looks closer: a
// subtest has the name of the scenario's file. They would pass without a look where discovery has no family, no fixture
// or no seam: each requires what it needs.
func TestServedSeams(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures", "--test-seams")
	doc := scenario{t, s, ""}.do("GET", "/.well-known/openwop", nil).json
	fixtures := fmt.Sprint(doc["fixtures"])
	for _, want := range []string{"conformance-stream-text", "conformance-prompt-end-to-end", "conformance-capability-missing"} {
		if !strings.Contains(fixtures, want) {
			t.Errorf("the fixtures are %s", fixtures)
		}
	}
	for family, want := range map[string]string{"prompts": "map[agentBindings:true endpointsSupported:true observability:full supported:true]",
		"providerUsage": "map[costEstimates:false supported:true]", "testing": "map[forceEngineVersionRange:map[max:2 min:0] mockProviders:[stream-text] testKeyPrefix:wbk_]",
		"envelopes": "map[reliability:map[events:[envelope.retry.attempted envelope.retry.exhausted envelope.refusal envelope.truncated " +
			"envelope.nlToFormat.engaged envelope.recovery.applied] supported:true]]"} {
		if got := fmt.Sprint(doc[family]); got != want {
			t.Errorf("%s: %s, want %s", family, got, want)
		}
	}
	for name, try := range map[string]func(scenario){
		"prompt-resolution-chain": scenarioChain, "prompt-end-to-end-events": scenarioPromptEvents, "stream-text-fixture": scenarioText,
		"provider-usage": scenarioUsage, "envelope-reliability": scenarioEnvelopes, "envelope-retry-attempted": scenarioRetried, "envelope-truncated": scenarioTruncated, "runtime-capabilities": scenarioMissing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

const seam = "/v1/host/sample"

// payload requires the payload of a run event: our contract, and the published schema where it exists.
func (c scenario) payload(kind string, raw []byte) {
	c.Helper()
	v, err := canon.Parse(raw)
	if err == nil && kind != "output.chunk" {
		err = openwop.CheckPayload(openwop.EventType(kind), v)
	}
	if err != nil {
		c.Error(err)
	}
	c.Run("published schema of "+kind, func(t *testing.T) {
		if ok, err := openwoptest.Published(t).CheckPayload(kind, raw); !ok || err != nil {
			t.Errorf("%v %v: %s", ok, err, raw)
		}
	})
}

// published requires a document of a published schema.
func (c scenario) published(name, text string) {
	c.Run("published schema of "+name, func(t *testing.T) {
		if err := openwoptest.Published(t).Check(name, []byte(text)); err != nil {
			t.Error(err)
		}
	})
}

func scenarioChain(c scenario) {
	agent := object{"agentId": "vendor.acme.writer-agent", "systemPromptRef": "prompts/intrinsic.md",
		"promptOverrides": object{"system": "prompt:editorial-house-style@1.0.0"}}
	flow, host := object{"promptRefs": object{"system": "prompt:workflow-default@1.0.0"}}, object{"system": "prompt:host-default@1.0.0"}
	bound := object{"agentId": "vendor.acme.writer-agent"}
	for name, row := range map[string]struct {
		body                   object
		layer, resolved, agent any
	}{
		"node wins": {object{"node": object{"nodeId": "writer", "config": object{"systemPromptRef": "prompt:experimental-writer@2.0.0",
			"agentId": "vendor.acme.writer-agent"}}, "agentManifest": agent, "workflowDefaults": flow, "hostDefaults": host},
			"node", "prompt:experimental-writer@2.0.0", "vendor.acme.writer-agent"},
		"agent intrinsic": {object{"node": object{"nodeId": "writer", "config": bound}, "agentManifest": agent, "workflowDefaults": flow,
			"hostDefaults": host}, "agent-intrinsic", "prompt:agent.vendor.acme.writer-agent", "vendor.acme.writer-agent"},
		"workflow": {object{"node": object{"nodeId": "writer", "config": object{}}, "workflowDefaults": flow, "hostDefaults": host},
			"workflow-defaults", "prompt:workflow-default@1.0.0", nil},
		"host": {object{"node": object{"nodeId": "writer", "config": object{}}, "hostDefaults": host}, "host-defaults", "prompt:host-default@1.0.0", nil},
		"none": {object{"node": object{"nodeId": "writer", "config": object{}}}, nil, nil, nil},
	} {
		row.body["kind"] = "system"
		r := c.do("POST", seam+"/prompt/resolve", row.body)
		chain, _ := r.json["chain"].([]any)
		var applied []any
		for _, link := range chain {
			if l := link.(map[string]any); l["applied"] == true {
				applied = append(applied, l["layer"], l["source"])
			}
		}
		want := []any{row.layer, row.resolved}
		if row.layer == nil {
			want = nil
		}
		resolved, present := r.json["resolved"]
		if r.status != 200 || fmt.Sprint(applied) != fmt.Sprint(want) || !present || resolved != row.resolved || len(chain) < 4 ||
			r.json["agentId"] != row.agent || r.json["kind"] != "system" || r.json["nodeId"] != "writer" {
			c.Errorf("%s: %d %s", name, r.status, r.text)
		}
		c.payload("agent.promptResolved", []byte(r.text))
	}
	c.envelope(c.do("POST", seam+"/prompt/resolve", object{"kind": "system", "node": object{}}), 400, "validation_error")
	c.envelope(c.do("POST", seam+"/prompt/resolve", object{"kind": "other", "node": object{"nodeId": "n"}}), 400, "validation_error")
}

func scenarioPromptEvents(c scenario) {
	run := c.create("conformance-prompt-end-to-end", object{"audience": "a team with the password hunter2-sesame-99"})
	c.until(run, "completed")
	events, text := c.poll(run, "?lastSequence=0&timeout=1")
	at := map[any]int{}
	payload := map[any]map[string]any{}
	for i, e := range events {
		at[e["type"]] = i
		payload[e["type"]], _ = e["payload"].(map[string]any)
		raw, _ := json.Marshal(e["payload"])
		if e["type"] == "agent.promptResolved" || e["type"] == "prompt.composed" || e["type"] == "provider.usage" {
			c.payload(e["type"].(string), raw)
			if e["nodeId"] != "writer" {
				c.Errorf("%v", e)
			}
		}
	}
	resolved, composed := payload["agent.promptResolved"], payload["prompt.composed"]
	if resolved == nil || composed == nil || at["agent.promptResolved"] >= at["prompt.composed"] || at["prompt.composed"] >= at["node.completed"] {
		c.Fatalf("%s", text)
	}
	if resolved["nodeId"] != "writer" || resolved["kind"] != "system" || resolved["resolved"] != "prompt:conformance.prompt.writer-system@1.0.0" ||
		!strings.Contains(fmt.Sprint(resolved["chain"]), "applied:true layer:node") {
		c.Errorf("%v", resolved)
	}
	body, _ := composed["composed"].(string)
	if composed["kind"] != "system-only" || composed["systemPrompt"] != body || composed["hash"] != canon.Sum([]byte(body)).String() ||
		!strings.HasPrefix(body, "You write short texts for a team") {
		c.Errorf("%v", composed)
	}
	// The same inputs have the same hash, others another one.
	hashOf := func(inputs object) any {
		run := c.create("conformance-prompt-end-to-end", inputs)
		c.until(run, "completed")
		all, _ := c.poll(run, "")
		for _, e := range all {
			if e["type"] == "prompt.composed" {
				return e["payload"].(map[string]any)["hash"]
			}
		}
		return nil
	}
	if a, b, other := hashOf(nil), hashOf(nil), hashOf(object{"audience": "you"}); a == nil || a != b || a == other {
		c.Errorf("%v %v %v", a, b, other)
	}
}

func scenarioText(c scenario) {
	create := func(provider string) answered {
		return c.do("POST", "/v1/runs", object{"workflowId": "conformance-stream-text", "configurable": object{"mockProvider": object{"id": provider,
			"config": object{"tokens": []string{"Hello", " ", "world", "!"}, "delayMsPerToken": 10, "finishReason": "stop",
				"usage": object{"promptTokens": 5, "completionTokens": 4, "totalTokens": 9}}}}})
	}
	r := create("stream-text")
	run, _ := r.json["runId"].(string)
	if r.status != 201 {
		c.Fatalf("%d %s", r.status, r.text)
	}
	for _, mode := range []string{"messages", "updates,messages"} { // the second time the run has ended
		messages, closed := c.stream(run, "?streamMode="+mode, 10*time.Second)
		var got []string
		var last map[string]any
		for _, m := range messages {
			if m.Event != "ai.message.chunk" {
				if mode == "messages" {
					c.Errorf("%+v", m)
				}
				continue
			}
			var payload map[string]any
			if err := json.Unmarshal([]byte(m.Data), &payload); err != nil {
				c.Fatal(err)
			}
			c.payload("output.chunk", []byte(m.Data))
			if payload["nodeId"] != "stream" || payload["runId"] != run || (payload["isLast"] == true) != (m.ID != "") {
				c.Errorf("%+v", m)
			}
			got, last = append(got, payload["chunk"].(string)), payload
		}
		if !closed || fmt.Sprintf("%q", got) != `["Hello" " " "world" "!"]` || last["isLast"] != true ||
			fmt.Sprint(last["meta"]) != "map[finishReason:stop model:stream-text usage:map[completionTokens:4 promptTokens:5 totalTokens:9]]" {
			c.Errorf("%s: %q %v closed %v", mode, got, last, closed)
		}
	}
	c.until(run, "completed")
	if messages, _ := c.stream(run, "?streamMode=debug", 10*time.Second); strings.Contains(fmt.Sprint(names(messages)), "ai.message.chunk") {
		c.Errorf("%v", names(messages))
	}
	c.envelope(create("does-not-exist"), 400, "unsupported_mock_provider")
}

func scenarioUsage(c scenario) {
	if r := c.do("GET", seam+"/test/runs/__probe__/events", nil); r.status != 200 || fmt.Sprint(r.json["events"]) != "[]" {
		c.Fatalf("%d %s", r.status, r.text)
	}
	payload := object{"provider": "acme", "model": "m", "inputTokens": 200, "outputTokens": 80, "totalTokens": 280, "nodeId": "node-1"}
	send := func(run string, payload object) answered {
		return c.do("POST", seam+"/test/emit-provider-usage", object{"runId": run, "payload": payload, "correlationId": "c:node-1:pu-1", "nodeId": "node-1"})
	}
	if r := send("r-usage", payload); r.status != 200 {
		c.Fatalf("%d %s", r.status, r.text)
	}
	list := func(query string) (out []map[string]any) {
		r := c.do("GET", seam+"/test/runs/r-usage/events"+query, nil)
		for _, e := range r.json["events"].([]any) {
			out = append(out, e.(map[string]any))
		}
		return out
	}
	got := list("?type=provider.usage")
	if len(got) != 1 || got[0]["causationId"] != "c:node-1:pu-1" || got[0]["nodeId"] != "node-1" || fmt.Sprint(got[0]["payload"]) !=
		"map[inputTokens:200 model:m nodeId:node-1 outputTokens:80 provider:acme totalTokens:280]" {
		c.Errorf("%v", got)
	}
	if len(list("?causationId=other")) != 0 || len(list("?nodeId=node-1")) != 1 {
		c.Error("the filters select others")
	}
	// It is an event of a run, in its place.
	run := got[0]["runId"].(string)
	if polled, _ := c.poll(run, ""); fmt.Sprint(polled[int(got[0]["sequence"].(float64))]) != fmt.Sprint(got[0]) {
		c.Errorf("%v", polled)
	}
	for _, bad := range []object{{"nodeId": "secret:tenant:byok:v1"}, {"credentialRef": "x"}, {"model": secretOpenAI}} {
		hostile := object{"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 1}
		for k, v := range bad {
			hostile[k] = v
		}
		r := send("r-usage", hostile)
		c.envelope(r, 400, "provider_usage_credential_leak")
		if strings.Contains(r.text, marker) || strings.Contains(r.text, "byok") {
			c.Error(r.text)
		}
	}
	c.envelope(send("r-usage", object{"provider": "p", "model": "m", "inputTokens": 1}), 400, "invalid_argument")
	c.envelope(send("r-usage", object{"provider": "p", "model": "m", "inputTokens": 1.5, "outputTokens": 1}), 400, "invalid_argument")
	// A run of the caller's own; after its last event there is none.
	own := c.create("conformance-noop", nil)
	c.until(own, "completed")
	c.envelope(send(own, payload), 409, "conflict")
	if events, _ := c.poll(own, ""); events[len(events)-1]["type"] != "run.completed" {
		c.Errorf("%v", events)
	}
}

func scenarioEnvelopes(c scenario) {
	send := func(kind string, payload object) answered {
		return c.do("POST", seam+"/test/emit-envelope-reliability", object{"runId": "envelopes", "type": kind, "payload": payload, "nodeId": "writer"})
	}
	for kind, payload := range map[string]object{
		"envelope.refusal":            {"nodeId": "writer", "provider": "p", "model": "m", "refusalText": "I cannot proceed.", "safetyCategory": "harmful-content"},
		"envelope.retry.attempted":    {"nodeId": "writer", "attempt": 2, "reason": "schema-violation"},
		"envelope.retry.exhausted":    {"nodeId": "writer", "totalAttempts": 3, "finalReason": "x-host-waybill-test"},
		"envelope.truncated":          {"nodeId": "writer", "provider": "p", "model": "m", "stopReason": "max_tokens", "partialPayloadAvailable": true},
		"envelope.nlToFormat.engaged": {"nodeId": "writer", "originalEnvelopeType": "a"},
		"envelope.recovery.applied":   {"nodeId": "writer", "path": "jsonrepair"},
	} {
		r := send(kind, payload)
		event, _ := r.json["event"].(map[string]any)
		if r.status != 200 || event["type"] != kind || event["nodeId"] != "writer" || len(event["payload"].(map[string]any)) != len(payload) {
			c.Errorf("%s: %d %s", kind, r.status, r.text)
			continue
		}
		raw, _ := json.Marshal(event["payload"])
		c.payload(kind, raw)
		payload["surprise"] = 1
		c.envelope(send(kind, payload), 400, "invalid_argument")
	}
	c.envelope(send("envelope.refusal", object{"nodeId": "writer", "provider": "p", "model": "m",
		"refusalText": "The model wrote secret-canary-leak-test."}), 400, "envelope_reliability_credential_leak")
	c.envelope(send("envelope.refusal", object{"nodeId": "writer", "provider": "p", "model": "m", "credentialRef": "x"}), 400,
		"envelope_reliability_credential_leak")
	c.envelope(send("envelope.refusal", object{"nodeId": "writer", "model": "m"}), 400, "invalid_argument")
	c.envelope(send("run.completed", object{}), 400, "invalid_argument")
	c.envelope(send("approval.granted", object{"gateId": "g", "principal": "p"}), 400, "invalid_argument")
}

// programmed creates a run of a fixture whose provider answers as a program says, and returns its state and the payloads of
// its events by type.
func (c scenario) programmed(fixture, status string, program ...object) (state map[string]any, payloads map[any][]map[string]any) {
	c.Helper()
	if r := c.do("POST", seam+"/test/mock-ai/program", object{"nodeId": "structured-call", "program": program}); r.status != 200 {
		c.Fatalf("%d %s", r.status, r.text)
	}
	run := c.create(fixture, nil)
	state = c.until(run, status)
	payloads = map[any][]map[string]any{}
	events, _ := c.poll(run, "")
	for _, e := range events {
		raw, _ := json.Marshal(e["payload"])
		if strings.HasPrefix(e["type"].(string), "envelope.") {
			c.payload(e["type"].(string), raw)
		}
		payloads[e["type"]] = append(payloads[e["type"]], e["payload"].(map[string]any))
	}
	return state, payloads
}

// programming keeps the two scenarios apart: both program the same node.
var programming sync.Mutex

func scenarioRetried(c scenario) {
	programming.Lock()
	defer programming.Unlock()
	_, got := c.programmed("conformance-envelope-retry-attempted", "completed", object{"content": "not valid json " + marker}, object{"content": `{"valid":true}`})
	retries := got["envelope.retry.attempted"]
	if len(retries) != 1 || retries[0]["attempt"] != 2.0 || retries[0]["reason"] != "parse-error" || len(got["node.completed"]) != 1 ||
		strings.Contains(fmt.Sprint(got), marker) {
		c.Errorf("%v", got)
	}
	state, got := c.programmed("conformance-envelope-retry-attempted", "failed", object{"content": "no"}, object{"content": "no"}, object{"content": "no"})
	if len(got["envelope.retry.exhausted"]) != 1 || len(got["envelope.retry.attempted"]) != 2 || state["error"].(map[string]any)["code"] != "envelope_retry_exhausted" {
		c.Errorf("%v %v", state, got)
	}
	state, got = c.programmed("conformance-envelope-retry-attempted", "failed", object{"refusal": "I cannot " + marker})
	if len(got["envelope.refusal"]) != 1 || len(got["envelope.retry.attempted"]) != 0 || state["error"].(map[string]any)["code"] != "envelope_refusal" ||
		strings.Contains(fmt.Sprint(state, got), marker) {
		c.Errorf("%v %v", state, got)
	}
	c.envelope(c.do("POST", seam+"/test/mock-ai/program", object{"nodeId": "", "program": []any{}}), 400, "invalid_argument")
}

func scenarioTruncated(c scenario) {
	programming.Lock()
	defer programming.Unlock()
	_, got := c.programmed("conformance-envelope-truncated", "completed", object{"stopReason": "max_tokens", "content": `{"partial`},
		object{"stopReason": "end_turn", "content": `{"valid":true}`})
	cut := got["envelope.truncated"]
	if len(cut) != 1 || cut[0]["stopReason"] != "max_tokens" || cut[0]["nodeId"] != "structured-call" || cut[0]["provider"] != "mock" ||
		cut[0]["partialPayloadAvailable"] != true {
		c.Errorf("%v", got)
	}
	if r := c.do("GET", seam+"/test/mock-ai/last-dispatch-budget?nodeId=structured-call", nil); r.json["maxTokens"] != 100.0 {
		c.Errorf("%d %s", r.status, r.text)
	}
}

func scenarioMissing(c scenario) {
	doc := c.as("").do("GET", "/.well-known/openwop", nil).json
	if _, ok := doc["runtimeCapabilities"]; ok {
		c.Error("capabilities are advertised, and none is provided")
	}
	run := c.create("conformance-capability-missing", nil)
	state := c.until(run, "failed")
	e := state["error"].(map[string]any)
	if message, _ := e["message"].(string); e["code"] != "capability_not_provided" || !strings.Contains(message, "conformance.never-provided") {
		c.Errorf("%v", e)
	}
	if types := c.typesOf(run); slices.Contains(types, "node.completed") {
		c.Errorf("%v", types)
	}
}

// TestTestStores: the seams need a store of their own, which every view names; without them their paths are unknown, and what
// only they perform is refused.
func TestTestStores(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	c := scenario{t, s, s.key}
	c.envelope(c.do("POST", seam+"/test/reset", object{}), 404, "not_found")
	c.envelope(c.do("GET", seam+"/test/runs/x/events", nil), 404, "not_found")
	c.envelope(c.do("POST", "/v1/runs", object{"workflowId": "conformance-capability-missing"}), 400, "capability_required")
	c.envelope(c.do("POST", "/v1/runs", object{"workflowId": "conformance-stream-text"}), 400, "capability_required")
	c.envelope(c.do("POST", "/v1/runs", object{"workflowId": "conformance-noop", "configurable": object{"mockProvider": object{"id": "stream-text"}}}),
		403, "mock_provider_forbidden")
	doc := c.do("GET", "/.well-known/openwop", nil).json
	if strings.Contains(fmt.Sprint(doc["fixtures"]), "capability-missing") || doc["testing"] != nil || doc["envelopes"] != nil {
		t.Errorf("%v", doc)
	}
	c.until(c.create("conformance-noop", nil), "completed")
	s.kill()
	if out := s.runPiped(2, "serve", "--test-seams"); !strings.Contains(out, "--test-seams needs a store of its own: it holds runs already") {
		t.Error(out)
	}
	if out := s.runPiped(0, "runs", "list"); strings.Contains(out, "Test store") {
		t.Error(out)
	}

	s = serveAt(t, "", "--fixtures", "--test-seams")
	c = scenario{t, s, s.key}
	c.until(c.create("conformance-noop", nil), "completed")
	first := c.do("POST", seam+"/test/emit-provider-usage", object{"runId": "name", "payload": object{"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 1}})
	s.kill()
	s.start() // it is a test store by now
	test := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "test", "--scope", allScopes))
	named := func() string {
		r := c.do("GET", seam+"/test/runs/name/events", nil)
		return fmt.Sprint(len(r.json["events"].([]any)))
	}
	if got := named(); got != "7" || first.status != 200 {
		t.Errorf("%s events, %s", got, first.text)
	}
	if r := c.do("POST", seam+"/test/reset", object{}); r.status != 200 || r.json["runsEnded"] != 1.0 || named() != "0" {
		t.Errorf("%s, %s events", r.text, named())
	}
	if r := c.as(test).do("POST", seam+"/test/reset", object{}); r.status != 200 || r.json["runsEnded"] != 0.0 {
		t.Errorf("%s", r.text)
	}
	for _, args := range [][]string{{"runs", "list"}, {"inbox"}, {"workflows", "list"}, {"verify"}, {"proposals", "list"}} {
		if out := s.runPiped(0, args...); !strings.HasPrefix(out, "! Test store") {
			t.Errorf("%v: %s", args, out)
		}
		if out := s.runPiped(0, append(args, "--json")...); !strings.Contains(out, `,"testStore":true}`) {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := s.runPiped(0, "verify", "--json"); !strings.Contains(out, `"findings":[]`) {
		t.Error(out)
	}
	s.kill()
	s.writeFile("mine.json", `{"id":"test.mine","name":"M","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}`)
	s.runPiped(0, "start", "mine.json")
	if out := s.runPiped(2, "serve", "--test-seams"); !strings.Contains(out, "it holds a run that no program made over HTTP") {
		t.Error(out)
	}
}
