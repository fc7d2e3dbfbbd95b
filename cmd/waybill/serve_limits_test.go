//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestServedLimits does with a server what the scenarios about limits and capabilities do, and looks closer: a subtest has the name of
// the scenario's file.
func TestServedLimits(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures", "--test-seams")
	for name, try := range map[string]func(scenario){
		"cap-breach": scenarioBreach, "body": scenarioBody,
		"configurable-schema": scenarioConfigurable, "version-fold": scenarioVersionFold,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

// configured creates a run with what is configurable.
func (c scenario) configured(fixture string, configurable object, headers ...string) answered {
	c.Helper()
	return c.do("POST", "/v1/runs", object{"workflowId": fixture, "configurable": configurable}, headers...)
}

func scenarioBreach(c scenario) {
	r := c.configured("conformance-cap-breach", object{"recursionLimit": 3})
	run, _ := r.json["runId"].(string)
	if r.status != 201 {
		c.Fatalf("%d %s", r.status, r.text)
	}
	state := c.until(run, "failed")
	if e := state["error"].(map[string]any); e["code"] != "recursion_limit_exceeded" || e["message"] == "" {
		c.Errorf("%v", e)
	}
	breach := c.event(run, "cap.breached")
	if breach["kind"] != "node-executions" || breach["limit"] != 3.0 || breach["observed"] != 4.0 || breach["nodeId"] != "d" {
		c.Errorf("%v", breach)
	}
	types := c.typesOf(run)
	count := func(kind string) int {
		return len(slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t != kind }))
	}
	if count("node.started") != 3 || count("node.completed") != 3 || slices.Index(types, "cap.breached") > slices.Index(types, "run.failed") ||
		types[len(types)-1] != "run.failed" {
		c.Errorf("%v", types)
	}
	// It is a rule of the engine, and what is recorded verifies and replays.
	for _, args := range [][]string{{"verify", run}, {"replay", run}} {
		if out, err := exec.Command("waybill", append(args, "--store", c.s.store)...).CombinedOutput(); err != nil {
			c.Errorf("%v: %s", args, out)
		}
	}
	for _, enough := range []object{{"recursionLimit": 5}, {"recursionLimit": 500, "other": 1}, {}} {
		run := c.configured("conformance-cap-breach", enough).json["runId"].(string)
		c.until(run, "completed")
	}
	for _, wrong := range []any{0, -1, 1.5, "3", nil} {
		c.envelope(c.configured("conformance-cap-breach", object{"recursionLimit": wrong}), 400, "validation_error")
	}
}

// scenarioBody: the limit that discovery names is the one that is enforced, to the byte.
func scenarioBody(c scenario) {
	limits := c.as("").do("GET", "/.well-known/openwop", nil).json["limits"].(map[string]any)
	most := int(limits["maxRequestBodyBytes"].(float64))
	send := func(size int) answered {
		body := []byte(`{"workflowId":"conformance-noop","surprise":"`)
		body = append(append(body, bytes.Repeat([]byte("x"), size-len(body)-2)...), '"', '}')
		req, err := http.NewRequest("POST", c.s.client().URL()+"/v1/runs", bytes.NewReader(body))
		if err != nil {
			c.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+c.key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			c.Fatal(err)
		}
		defer res.Body.Close()
		return answered{status: res.StatusCode}
	}
	if got := send(most); got.status != 400 { // read whole, and refused for its member
		c.Errorf("%d bytes: %d", most, got.status)
	}
	if got := send(most + 1); got.status != 413 {
		c.Errorf("%d bytes: %d", most+1, got.status)
	}
}

func scenarioConfigurable(c scenario) {
	const fixture = "conformance-configurable-schema"
	schema, _ := c.do("GET", "/v1/workflows/"+fixture, nil).json["configurableSchema"].(map[string]any)
	props, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" || schema["additionalProperties"] != false || props["audience"] == nil || props["recursionLimit"] == nil {
		c.Fatalf("%v", schema)
	}
	if c.do("GET", "/v1/workflows/conformance-noop", nil).json["configurableSchema"] != nil {
		c.Error("a workflow that declares nothing has a schema")
	}
	for _, wrong := range []object{{"__conformance_invalid_key__": object{"unexpected": true}}, {"audience": "no-choice"}, {"audience": 1},
		{"maxTokens": 0}, {"audience": "people", "more": 1}} {
		r := c.configured(fixture, wrong)
		c.envelope(r, 400, "validation_error")
		if pointer, _ := r.json["details"].(map[string]any)["pointer"].(string); !strings.HasPrefix(pointer, "/configurable/") {
			c.Errorf("%s", r.text)
		}
	}
	// What a client makes of the schema alone: its first integer at the minimum, else its first string.
	names, overlay := []string{}, object{}
	for name := range props {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p, _ := props[name].(map[string]any)
		if p["type"] == "integer" {
			overlay[name] = p["minimum"]
			break
		}
		if p["type"] == "string" {
			overlay[name] = "conformance-test"
			break
		}
	}
	if r := c.configured(fixture, overlay); len(overlay) == 0 || r.status != 201 {
		c.Errorf("%v: %d %s", overlay, r.status, r.text)
	} else {
		c.until(r.json["runId"].(string), "waiting-input") // its input is not configured
	}
	r := c.configured(fixture, object{"audience": "people", "temperature": 0.5})
	if r.status != 201 {
		c.Fatalf("%d %s", r.status, r.text)
	}
	state := c.until(r.json["runId"].(string), "completed")
	if v := state["variables"].(map[string]any); v["audience"] != "people" || v["temperature"] != nil {
		c.Errorf("%v", v)
	}
	if got := state["configurable"].(map[string]any); got["audience"] != "people" || got["temperature"] != 0.5 {
		c.Errorf("%v", got)
	}
	// An input that is sent as one comes before the configuration.
	r = c.do("POST", "/v1/runs", object{"workflowId": fixture, "inputs": object{"audience": "programs"}, "configurable": object{"audience": "people"}})
	if v := c.until(r.json["runId"].(string), "completed")["variables"].(map[string]any); v["audience"] != "programs" {
		c.Errorf("%v", v)
	}
	if r := c.configured("conformance-noop", object{"any": object{"thing": 1}}); r.status != 201 {
		c.Errorf("%d %s", r.status, r.text)
	}
}

func scenarioVersionFold(c scenario) {
	doc := c.as("").do("GET", "/.well-known/openwop", nil).json
	testing, _ := doc["testing"].(map[string]any)
	span, _ := testing["forceEngineVersionRange"].(map[string]any)
	least, most := span["min"].(float64), span["max"].(float64)
	if prefix, _ := testing["testKeyPrefix"].(string); prefix == "" || !strings.HasPrefix(c.key, prefix) || least >= most {
		c.Fatalf("%v", testing)
	}
	force := func(version string) answered {
		return c.do("POST", "/v1/runs", object{"workflowId": "conformance-version-fold"}, "X-Force-Engine-Version: "+version)
	}
	for v := int(least); v <= int(most); v++ {
		text := fmt.Sprint(v)
		r := force(text)
		if r.status != 201 {
			c.Fatalf("%d %s", r.status, r.text)
		}
		run := r.json["runId"].(string)
		if state := c.until(run, "completed"); state["engineVersion"] != text {
			c.Errorf("%v", state)
		}
		if started := c.event(run, "run.started"); started["engineVersion"] != text {
			c.Errorf("%v", started)
		}
	}
	if state := c.until(c.create("conformance-version-fold", nil), "completed"); state["engineVersion"] == fmt.Sprint(int(least)) {
		c.Errorf("%v", state)
	}
	for _, other := range []string{fmt.Sprint(int(most) + 1), "-1", "1.0", "one"} {
		r := force(other)
		c.envelope(r, 400, "unsupported_force_engine_version")
		if span, _ := r.json["details"].(map[string]any)["supported"].(map[string]any); span["max"] != most {
			c.Errorf("%s", r.text)
		}
	}
	r := c.do("POST", "/v1/runs", object{"workflowId": "conformance-version-fold", "metadata": object{"waybill.engineVersion": 1}})
	c.envelope(r, 400, "validation_error")
}

// TestServedWithoutSeams: a server that is not one for tests forces nothing, and does not offer it.
func TestServedWithoutSeams(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	c := scenario{t, s, s.key}
	if doc := c.as("").do("GET", "/.well-known/openwop", nil).json; doc["testing"] != nil {
		t.Errorf("%v", doc["testing"])
	}
	r := c.do("POST", "/v1/runs", object{"workflowId": "conformance-version-fold"}, "X-Force-Engine-Version: 1")
	c.envelope(r, 403, "force_engine_version_forbidden")
}
