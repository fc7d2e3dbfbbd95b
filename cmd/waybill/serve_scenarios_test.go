//go:build linux

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// marker is in each text that no answer may repeat.
const marker = "CANARY-NEVER-REPEATED-ANYWHERE"

// Texts in the form of secrets, each with the marker.
const (
	secretOpenAI    = "sk-" + marker + "-oai9Lt7Nw2QrZ0aB8mYjPpQe"
	secretAnthropic = "sk-ant-" + marker + "-ant3Ko0LqFqzv9Sb1J7mNcR"
	secretJWT       = "eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOnRydWV9." + marker + "-jwt-signature-xyz"
	secretOpaque    = "cred_" + marker + "-OpaqueRefAlphaNumX9Y8Z7"
	secretWords     = "sk-canary-words-do-not-leak-abc123"
)

// TestServedScenarios does with a server what the public conformance scenarios of its wave do, and looks closer: a
// subtest has the name of the scenario's file. None of them passes where a fixture, a family or a proposal is missing.
func TestServedScenarios(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures", "--test-seams")
	s.writeFile("check.json", checkProposal)
	draft := s.createProposal("check.json")
	weak := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "weak", "--scope", "runs:read,proposals:author"))
	s.kill() // the draft is no news for the streams of the next server
	s.start()
	for name, try := range map[string]func(scenario){
		"discovery": scenarioDiscovery, "auth": scenarioAuth, "errors": scenarioErrors, "runs-lifecycle": scenarioLifecycle,
		"route-coverage": scenarioRoutes, "version-negotiation": scenarioVersions, "eventOrdering": scenarioOrdering,
		"multi-node-ordering": scenarioNodes, "identity-passthrough": scenarioIdentity, "failure-path": scenarioFailure,
		"cancellation": scenarioCancellation, "bulk-cancel": scenarioBulkCancel, "redaction": scenarioRedaction,
		"redactionAdversarial": scenarioAdversarial, "stream-modes": scenarioModes, "stream-modes-buffer": scenarioBuffer,
		"stream-modes-mixed": scenarioMixed, "streamReconnect": scenarioReconnect, "idempotency": scenarioIdempotency,
		"idempotencyRetry": scenarioRetries, "highConcurrency": scenarioConcurrency, "feedback": scenarioFeedback,
		"proposal-reviewable-learning": func(c scenario) { scenarioProposal(c, draft, weak) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

func scenarioDiscovery(c scenario) {
	first := c.as("").do("GET", "/.well-known/openwop", nil)
	for _, name := range []string{"protocolVersion", "supportedEnvelopes", "schemaVersions", "limits", "feedback"} {
		if first.json[name] == nil {
			c.Errorf("discovery has no %s", name)
		}
	}
	etag := first.header.Get("ETag")
	if first.status != 200 || etag == "" || first.header.Get("Cache-Control") == "" {
		c.Errorf("%d %v", first.status, first.header)
	}
	if again := c.as("").do("GET", "/.well-known/openwop", nil, "If-None-Match: "+etag); again.status != 304 || again.text != "" {
		c.Errorf("%d %q", again.status, again.text)
	}
	limits, _ := first.json["limits"].(map[string]any)
	for _, name := range []string{"clarificationRounds", "schemaRounds", "envelopesPerTurn", "maxRequestBodyBytes"} {
		if n, ok := limits[name].(float64); !ok || n < 0 {
			c.Errorf("limits.%s is %v", name, limits[name])
		}
	}
	fixtures, _ := first.json["fixtures"].([]any)
	seen := map[any]bool{}
	for _, f := range fixtures {
		if word, _ := f.(string); word == "" || seen[f] {
			c.Errorf("the fixtures are %v", fixtures)
		}
		seen[f] = true
	}
	for _, want := range []string{"noop", "identity", "multi-node", "failure", "cancellable", "delay", "idempotent"} {
		if !seen["conformance-"+want] {
			c.Errorf("no fixture %s", want)
		}
	}
	for _, name := range []string{"webhooks", "conversationPrimitive", "multiAgent", "secrets", "aiProviders"} {
		if _, ok := first.json[name]; ok {
			c.Errorf("discovery has %s", name)
		}
	}
	api := c.as("").do("GET", "/v1/openapi.json", nil)
	if version, _ := api.json["openapi"].(string); api.status != 200 || !strings.HasPrefix(version, "3.1") {
		c.Errorf("%d %s", api.status, version)
	}
}

func scenarioAuth(c scenario) {
	body := object{"workflowId": "conformance-noop"}
	c.envelope(c.as("").do("POST", "/v1/runs", body), 401, "unauthenticated")
	c.envelope(c.as("hk_definitely_not_a_real_key_12345").do("POST", "/v1/runs", body), 401, "unauthenticated")
}

func scenarioErrors(c scenario) {
	c.envelope(c.do("GET", "/v1/runs/no-such-run", nil), 404, "run_not_found")
	c.envelope(c.do("POST", "/v1/runs", object{}), 400, "validation_error")
	r := c.do("POST", "/v1/runs", object{"workflowId": "conformance-noop", "inputs": object{}, "surprise": 1})
	c.envelope(r, 400, "validation_error")
	if details := r.json["details"].(map[string]any); details["pointer"] != "/surprise" || details["correlationId"] != nil {
		c.Errorf("%v", details)
	}
}

func scenarioLifecycle(c scenario) {
	run := c.create("conformance-noop", nil)
	c.until(run, "completed")
	c.envelope(c.do("GET", "/v1/runs/no-such-run", nil), 404, "run_not_found")
}

func scenarioRoutes(c scenario) {
	r := c.do("GET", "/v1/workflows/conformance-noop", nil)
	if nodes, _ := r.json["nodes"].([]any); r.status != 200 || r.json["id"] != "conformance-noop" || len(nodes) != 1 {
		c.Errorf("%d %s", r.status, r.text)
	}
	c.envelope(c.do("GET", "/v1/workflows/no-such-workflow", nil), 404, "not_found")
	c.envelope(c.do("GET", "/v1/runs/no-such-run/artifacts/no-such-artifact", nil), 404, "")
	c.envelope(c.do("POST", "/v1/webhooks", object{"url": "not-a-valid-url", "events": []string{"run.completed"}}), 404, "")
	c.envelope(c.do("DELETE", "/v1/webhooks/no-such-webhook", nil), 404, "")
}

func scenarioVersions(c scenario) {
	run := c.create("conformance-noop", nil)
	c.until(run, "completed")
	c.poll(run, "?lastSequence=0&timeout=1")
	r := c.do("GET", "/v1/runs/"+run+"/events/poll?lastSequence=99999&timeout=1", nil)
	if events, ok := r.json["events"].([]any); r.status != 200 || !ok || len(events) != 0 || r.json["isComplete"] != true {
		c.Errorf("%d %s", r.status, r.text)
	}
}

func scenarioOrdering(c scenario) {
	run := c.create("conformance-noop", nil)
	c.until(run, "completed")
	events, _ := c.poll(run, "")
	again, _ := c.poll(run, "")
	ends := 0
	for _, e := range events {
		if clienttest.Terminal(e["type"].(string)) {
			ends++
		}
	}
	if len(events) < 4 || ends != 1 || events[len(events)-1]["type"] != "run.completed" || events[0]["sequence"] != 0.0 ||
		!reflect.DeepEqual(events, again) {
		c.Errorf("%v", events)
	}
}

func scenarioNodes(c scenario) {
	run := c.create("conformance-multi-node", nil)
	c.until(run, "completed")
	events, _ := c.poll(run, "?lastSequence=0&timeout=1")
	var nodes []any
	for _, e := range events {
		if e["type"] == "node.completed" {
			nodes = append(nodes, e["nodeId"])
		}
	}
	if fmt.Sprint(nodes) != "[a b c]" {
		c.Errorf("%v", nodes)
	}
}

func scenarioIdentity(c scenario) {
	payload := object{"stringField": "hello", "intField": 42.0, "boolField": true,
		"arrayField": []any{1.0, "two", object{"three": 3.0}}, "nested": object{"deeper": object{"stillDeeper": object{"value": "leaf"}}}}
	run := c.create("conformance-identity", object{"payload": payload})
	state := c.until(run, "completed")
	if variables, _ := state["variables"].(map[string]any); !reflect.DeepEqual(variables["payload"], any(payload)) {
		c.Errorf("%v", state)
	}
}

func scenarioFailure(c scenario) {
	run := c.create("conformance-failure", nil)
	problem, _ := c.until(run, "failed")["error"].(map[string]any)
	code, _ := problem["code"].(string)
	if message, _ := problem["message"].(string); code == "" || message == "" {
		c.Errorf("%v", problem)
	}
}

func scenarioCancellation(c scenario) {
	run := c.create("conformance-cancellable", object{"delayMs": 10_000})
	c.until(run, "running")
	r := c.do("POST", "/v1/runs/"+run+"/cancel", object{"reason": "enough"})
	if status := r.json["status"]; r.status != 200 || status != "cancelled" && status != "cancelling" {
		c.Errorf("%d %s", r.status, r.text)
	}
	c.until(run, "cancelled")
	c.envelope(c.do("POST", "/v1/runs/no-such-run/cancel", object{}), 404, "run_not_found")
}

func scenarioBulkCancel(c scenario) {
	bulk := func(ids ...string) []map[string]any {
		r := c.do("POST", "/v1/runs:bulk-cancel", object{"runIds": ids, "reason": "enough"})
		list, _ := r.json["results"].([]any)
		if r.status != 200 || len(list) != len(ids) {
			c.Fatalf("%d %s", r.status, r.text)
		}
		var out []map[string]any
		for i, one := range list {
			if out = append(out, one.(map[string]any)); out[i]["runId"] != ids[i] {
				c.Errorf("%v", list)
			}
		}
		return out
	}
	done := c.create("conformance-noop", nil)
	c.until(done, "completed")
	run := c.create("conformance-cancellable", object{"delaySeconds": 30})
	got := bulk(run, "run-does-not-exist-xxxxxxxx", done)
	code, _ := got[1]["error"].(map[string]any)
	if got[0]["ok"] != true || got[1]["ok"] != false || code["code"] != "not_found" {
		c.Errorf("%v", got)
	}
	if again := bulk(run); again[0]["ok"] != true {
		c.Errorf("%v", again)
	}
	c.until(run, "cancelled")
	c.envelope(c.do("POST", "/v1/runs:bulk-cancel", object{"runIds": []string{}}), 400, "validation_error")
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("run-", i)
	}
	r := c.do("POST", "/v1/runs:bulk-cancel", object{"runIds": many})
	c.envelope(r, 400, "validation_error")
	if r.json["details"].(map[string]any)["maxRunIds"] != 100.0 {
		c.Error(r.text)
	}
}

func scenarioRedaction(c scenario) {
	for _, secret := range []string{secretJWT, secretOpaque, marker + "-direct"} {
		r := c.as(secret).do("POST", "/v1/runs", object{"workflowId": "conformance-noop"})
		if c.envelope(r, 401, "unauthenticated"); strings.Contains(r.text, marker) {
			c.Error(r.text)
		}
	}
	r := c.do("POST", "/v1/runs", object{"workflowId": "conformance-noop",
		"configurable": object{"ai": object{"credentialRef": secretOpaque}}})
	run, _ := r.json["runId"].(string)
	c.until(run, "completed")
	if _, text := c.poll(run, ""); strings.Contains(text, marker) {
		c.Error(text)
	}
}

func scenarioAdversarial(c scenario) {
	for name, value := range map[string]string{"userSuppliedField": secretOpenAI,
		"descriptiveText": "Some description containing " + secretAnthropic + " embedded", "other": "see " + secretJWT} {
		run := c.create("conformance-noop", object{name: value})
		c.until(run, "completed")
		if events, text := c.poll(run, ""); strings.Contains(text, marker) || len(events) < 4 {
			c.Error(text)
		}
		all, _ := c.stream(run, "?streamMode=debug", 10*time.Second)
		state := c.do("GET", "/v1/runs/"+run, nil)
		if strings.Contains(fmt.Sprint(all), marker) || strings.Contains(state.text, marker) {
			c.Errorf("%v %s", all, state.text)
		}
	}
	for _, secret := range []string{secretJWT, secretOpenAI, secretAnthropic} {
		r := c.do("POST", "/v1/runs", object{"workflowId": "nonexistent-" + secret, "inputs": object{}})
		if c.envelope(r, 404, "not_found"); strings.Contains(r.text, marker) {
			c.Error(r.text)
		}
	}
}

func scenarioModes(c scenario) {
	delay := func() string { return c.create("conformance-delay", object{"delayMs": 300}) }
	updates, closed := c.stream(delay(), "?streamMode=updates", 15*time.Second)
	if got := names(updates); !closed || !slices.Contains(got, "run.started") || got[len(got)-1] != "run.completed" {
		c.Errorf("%v %t", got, closed)
	}
	values, closed := c.stream(delay(), "?streamMode=values", 15*time.Second)
	if !closed || len(values) == 0 {
		c.Errorf("%v %t", values, closed)
	}
	debug, closed := c.stream(delay(), "?streamMode=debug", 15*time.Second)
	if !closed || len(debug) <= len(updates) {
		c.Errorf("%v %t", debug, closed)
	}
	r := c.do("GET", "/v1/runs/"+delay()+"/events?streamMode=does-not-exist", nil)
	c.envelope(r, 400, "unsupported_stream_mode")
	if list, _ := r.json["details"].(map[string]any)["supported"].([]any); len(list) != 4 {
		c.Error(r.text)
	}
}

func scenarioBuffer(c scenario) {
	run := c.create("conformance-delay", nil)
	began := time.Now()
	all, closed := c.stream(run, "?streamMode=updates&bufferMs=4000", 15*time.Second)
	var types []string
	for _, m := range all {
		events, err := m.Events()
		if m.Event != "batch" || err != nil || len(events) == 0 {
			c.Errorf("%+v", m)
		}
		for _, e := range events {
			types = append(types, e["type"].(string))
		}
	}
	if !closed || !slices.Contains(types, "run.completed") || time.Since(began) >= 2*time.Second {
		c.Errorf("%v after %s", types, time.Since(began))
	}
	plain, _ := c.stream(c.create("conformance-delay", object{"delayMs": 200}), "?streamMode=updates&bufferMs=0", 15*time.Second)
	if got := names(plain); !slices.Equal(got, types) {
		c.Errorf("%v without batches, %v in batches", got, types)
	}
	c.envelope(c.do("GET", "/v1/runs/"+run+"/events?bufferMs=99999", nil), 400, "validation_error")
}

func scenarioMixed(c scenario) {
	delay := func() string { return c.create("conformance-delay", object{"delayMs": 100}) }
	updates, _ := c.stream(delay(), "?streamMode=updates", 15*time.Second)
	for _, mode := range []string{"updates,messages", "updates,debug"} {
		mixed, closed := c.stream(delay(), "?streamMode="+mode, 15*time.Second)
		for _, name := range names(updates) {
			if !closed || !slices.Contains(names(mixed), name) {
				c.Errorf("%s: %v", mode, names(mixed))
			}
		}
	}
	for _, mode := range []string{"values,updates", "updates,bogus"} {
		c.envelope(c.do("GET", "/v1/runs/"+delay()+"/events?streamMode="+mode, nil), 400, "unsupported_stream_mode")
	}
}

func scenarioReconnect(c scenario) {
	run := c.create("conformance-cancellable", object{"delayMs": 1500})
	first, closed := c.stream(run, "", 700*time.Millisecond)
	if closed || len(first) == 0 || first[len(first)-1].ID == "" {
		c.Fatalf("%v %t", first, closed)
	}
	second, closed := c.stream(run, "", 10*time.Second, "Last-Event-ID: "+first[len(first)-1].ID)
	whole, _ := c.stream(run, "", 10*time.Second)
	if !closed || len(second) == 0 || !reflect.DeepEqual(append(first, second...), whole) {
		c.Errorf("%v and %v, not %v", first, second, whole)
	}
	began := time.Now()
	if rest, closed := c.stream(run, "", 10*time.Second, "Last-Event-ID: "+whole[len(whole)-1].ID); !closed || len(rest) != 0 ||
		time.Since(began) > 2*time.Second {
		c.Errorf("%v %t after %s", rest, closed, time.Since(began))
	}
}

const replayed = "Openwop-Idempotent-Replay"

func scenarioIdempotency(c scenario) {
	body, key := object{"workflowId": "conformance-idempotent", "inputs": object{"nonce": "a"}}, "Idempotency-Key: idempotency"
	first, second := c.do("POST", "/v1/runs", body, key), c.do("POST", "/v1/runs", body, key)
	if first.status != 201 || second.status != 201 || first.json["runId"] != second.json["runId"] ||
		first.header.Get(replayed) != "false" || second.header.Get(replayed) != "true" {
		c.Errorf("%v %v", first, second)
	}
	r := c.do("POST", "/v1/runs", object{"workflowId": "conformance-idempotent", "inputs": object{"nonce": "b"}}, key)
	if c.envelope(r, 409, "idempotency_key_mismatch"); strings.Contains(r.text, first.json["runId"].(string)) {
		c.Error(r.text)
	}
}

func scenarioRetries(c scenario) {
	body, key := object{"workflowId": "conformance-idempotent", "inputs": object{"nonce": "a"}}, "Idempotency-Key: retries"
	ids := map[any]int{}
	for i := range 5 {
		r := c.do("POST", "/v1/runs", body, key)
		if r.status != 201 || (r.header.Get(replayed) == "true") != (i > 0) {
			c.Errorf("%d %v", i, r)
		}
		ids[r.json["runId"]]++
		time.Sleep(20 * time.Millisecond)
	}
	if len(ids) != 1 {
		c.Errorf("%v", ids)
	}
}

func scenarioConcurrency(c scenario) {
	body := object{"workflowId": "conformance-idempotent", "inputs": object{"nonce": "a"}}
	for _, distinct := range []bool{false, true} {
		var wait sync.WaitGroup
		var mu sync.Mutex
		ids, fresh := map[any]int{}, 0
		for i := range 10 {
			key := "Idempotency-Key: parallel"
			if distinct {
				key = fmt.Sprint("Idempotency-Key: distinct-", i)
			}
			wait.Go(func() {
				r := c.do("POST", "/v1/runs", body, key)
				mu.Lock()
				defer mu.Unlock()
				if ids[r.json["runId"]]++; r.status != 201 {
					c.Errorf("%d %s", r.status, r.text)
				}
				if r.header.Get(replayed) == "false" {
					fresh++
				}
			})
		}
		wait.Wait()
		if want := map[bool]int{false: 1, true: 10}[distinct]; len(ids) != want || fresh != want {
			c.Errorf("distinct %t: %d runs, %d not replayed", distinct, len(ids), fresh)
		}
	}
}

// scenarioFeedback has the scenarios feedback-record-and-list, -on-terminal-run, -cross-tenant-isolation,
// -correction-redaction and -capability-shape.
func scenarioFeedback(c scenario) {
	caps := c.do("GET", "/.well-known/openwop", nil)
	family, _ := caps.json["feedback"].(map[string]any)
	if family["supported"] != true || fmt.Sprint(family["targets"]) != "[run event node]" ||
		fmt.Sprint(family["signals"]) != "[rating correction label flag]" {
		c.Errorf("%v", family)
	}
	run, other := c.create("conformance-noop", nil), c.create("conformance-noop", nil)
	c.until(run, "completed")
	before, _ := c.poll(run, "")
	var ids []string
	for _, body := range []object{{"signal": object{"kind": "rating", "rating": 5}}, {"signal": object{"kind": "flag"}, "note": "post-hoc review"},
		{"signal": object{"kind": "label", "label": "probe"}},
		{"signal": object{"kind": "correction", "correction": "please use " + secretWords}, "note": secretWords}} {
		r := c.do("POST", "/v1/runs/"+run+"/annotations", body)
		id, _ := r.json["annotationId"].(string)
		if r.status != 201 || id == "" || strings.Contains(r.text, secretWords) {
			c.Fatalf("%d %s", r.status, r.text)
		}
		ids = append(ids, id)
	}
	list := c.do("GET", "/v1/runs/"+run+"/annotations", nil)
	all, _ := list.json["annotations"].([]any)
	if len(all) != len(ids) || strings.Contains(list.text, secretWords) {
		c.Errorf("%s", list.text)
	}
	for i, a := range all {
		one := a.(map[string]any)
		if target, _ := one["target"].(map[string]any); one["annotationId"] != ids[i] || target["runId"] != run {
			c.Errorf("%v", one)
		}
	}
	if none := c.do("GET", "/v1/runs/"+other+"/annotations", nil); fmt.Sprint(none.json["annotations"]) != "[]" {
		c.Error(none.text)
	}
	if after, _ := c.poll(run, ""); !reflect.DeepEqual(before, after) {
		c.Error("an annotation changed the log of the run")
	}
}

// scenarioProposal applies a draft without the scope and without a key.
func scenarioProposal(c scenario, draft, weak string) {
	family, _ := c.do("GET", "/.well-known/openwop", nil).json["agents"].(map[string]any)
	if family["proposals"] == nil {
		c.Errorf("%v", family)
	}
	list := c.as(weak).do("GET", "/v1/host/sample/proposals?state=draft", nil)
	all, _ := list.json["proposals"].([]any)
	if len(all) != 1 || all[0].(map[string]any)["id"] != draft {
		c.Fatalf("%d %s", list.status, list.text)
	}
	c.envelope(c.as(weak).do("POST", "/v1/host/sample/proposals/"+draft+"/apply", object{}), 403, "forbidden")
	c.envelope(c.as("").do("POST", "/v1/host/sample/proposals/"+draft+"/apply", object{}), 401, "unauthenticated")
	if p := c.do("GET", "/v1/host/sample/proposals/"+draft, nil); p.json["state"] != "draft" {
		c.Error(p.text)
	}
}

// TestServedWithoutFeedback has the scenario feedback-unsupported-501.
func TestServedWithoutFeedback(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	s.configure("feedback", "off")
	c := scenario{t, s, s.key}
	caps := c.do("GET", "/.well-known/openwop", nil)
	if family, _ := caps.json["feedback"].(map[string]any); family["supported"] == true {
		t.Errorf("%v", family)
	}
	c.envelope(c.do("POST", "/v1/runs/no-such-run/annotations", object{"signal": object{"kind": "flag"}}), 501, "capability_not_provided")
	c.envelope(c.do("GET", "/v1/runs/no-such-run/annotations", nil), 501, "capability_not_provided")
}
