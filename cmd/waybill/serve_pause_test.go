//go:build linux

package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// typesOf are the types of the events of a run.
func (c scenario) typesOf(run string) (types []string) {
	c.Helper()
	events, _ := c.poll(run, "?timeout=1")
	for _, e := range events {
		types = append(types, e["type"].(string))
	}
	return types
}

// event returns the payload of the only event of a type.
func (c scenario) event(run, kind string) map[string]any {
	c.Helper()
	var found []map[string]any
	events, _ := c.poll(run, "?timeout=1")
	for _, e := range events {
		if e["type"] == kind {
			found = append(found, e["payload"].(map[string]any))
		}
	}
	if len(found) != 1 {
		c.Fatalf("%d events %s in %v", len(found), kind, c.typesOf(run))
	}
	return found[0]
}

// hold pauses or resumes a run and requires the status of the answer, and of the run in it or in the details.
func (c scenario) hold(run, verb string, body object, status int, runStatus string, headers ...string) answered {
	c.Helper()
	r := c.do("POST", "/v1/runs/"+run+":"+verb, body, headers...)
	got, _ := r.json["status"].(string)
	if status >= 400 {
		c.envelope(r, status, "conflict")
		details, _ := r.json["details"].(map[string]any)
		got, _ = details["runStatus"].(string)
	}
	if r.status != status || got != runStatus {
		c.Fatalf("%s: %d %s", verb, r.status, r.text)
	}
	return r
}

// TestServedPauses does with a server what the scenarios in pause-resume do, and looks closer.
func TestServedPauses(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures", "--test-seams")
	weak := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "weak", "--scope", "runs:read,runs:create"))
	for name, try := range map[string]func(scenario){
		"at once": scenarioPause, "after the node": scenarioDrain, "wrong states": scenarioPauseStates, "twice": scenarioPauseTwice,
		"while it waits": scenarioPauseSuspended, "policies": scenarioPolicies, "by a key without the scope": func(c scenario) {
			run := c.create("conformance-cancellable", object{"delayMs": 5000})
			for _, verb := range []string{":pause", ":resume"} {
				c.envelope(c.as(weak).do("POST", "/v1/runs/"+run+verb, object{}), 403, "forbidden")
				c.envelope(c.do("GET", "/v1/runs/"+run+verb, nil), 405, "")
			}
			c.envelope(c.do("POST", "/v1/runs/"+run+":halt", object{}), 404, "not_found")
			c.do("POST", "/v1/runs/"+run+"/cancel", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

func scenarioPause(c scenario) {
	run := c.create("conformance-cancellable", object{"delayMs": 1200})
	c.until(run, "running")
	r := c.hold(run, "pause", object{"reason": "for the test", "drainPolicy": "immediate"}, 202, "paused")
	if _, err := time.Parse(time.RFC3339, r.json["pausedAt"].(string)); err != nil {
		c.Error(err)
	}
	if p := c.event(run, "run.paused"); p["reason"] != "for the test" || p["drainPolicy"] != "immediate" {
		c.Errorf("%v", p)
	}
	time.Sleep(2 * time.Second) // the delay is over
	if s := c.until(run, "paused"); s["error"] != nil {
		c.Errorf("%v", s)
	}
	if types := c.typesOf(run); slices.Contains(types, "node.completed") {
		c.Errorf("a paused run is performed: %v", types)
	}
	// The delay is over: the run may be complete before the answer.
	if r := c.do("POST", "/v1/runs/"+run+":resume", object{"reason": "go"}); r.status != 202 || r.json["status"] != "running" && r.json["status"] != "completed" {
		c.Fatalf("resume: %d %s", r.status, r.text)
	}
	c.until(run, "completed")
	types := c.typesOf(run)
	order := []string{"run.started", "node.started", "run.paused", "run.resumed", "node.completed", "run.completed"}
	last := -1
	for _, kind := range order {
		at := slices.Index(types, kind)
		if at <= last {
			c.Fatalf("%v", types)
		}
		last = at
	}
}

func scenarioDrain(c scenario) {
	run := c.create("conformance-cancellable", object{"delayMs": 1500})
	c.until(run, "running")
	if r := c.hold(run, "pause", object{"reason": "drain"}, 202, "running"); r.json["pausedAt"] != nil { // the default
		c.Errorf("%s", r.text)
	}
	c.hold(run, "pause", object{"drainPolicy": "drain-current-node"}, 409, "running")
	c.until(run, "paused")
	types := c.typesOf(run)
	if done, paused := slices.Index(types, "node.completed"), slices.Index(types, "run.paused"); done < 0 || paused < done {
		c.Errorf("%v", types)
	}
	if p := c.event(run, "run.paused"); p["drainPolicy"] != "drain-current-node" {
		c.Errorf("%v", p)
	}
	if r := c.do("POST", "/v1/runs/"+run+":resume", object{}); r.status != 202 { // its only node is done: it may be complete at once
		c.Fatalf("%d %s", r.status, r.text)
	}
	c.until(run, "completed")

	run = c.create("conformance-cancellable", object{"delayMs": 1500})
	c.until(run, "running")
	c.hold(run, "pause", object{}, 202, "running")
	c.hold(run, "resume", object{}, 202, "running") // withdrawn
	c.until(run, "completed")
	if types := c.typesOf(run); slices.Contains(types, "run.paused") || slices.Contains(types, "run.resumed") {
		c.Errorf("%v", types)
	}
}

func scenarioPauseStates(c scenario) {
	run := c.create("conformance-cancellable", object{"delayMs": 20_000})
	c.until(run, "running")
	c.hold(run, "resume", object{}, 409, "running")
	c.do("POST", "/v1/runs/"+run+"/cancel", nil)
	c.until(run, "cancelled")
	c.hold(run, "pause", object{}, 409, "cancelled")
	c.hold(run, "resume", object{}, 409, "cancelled")
	for fixture, status := range map[string]string{"noop": "completed", "failure": "failed"} {
		run := c.create("conformance-"+fixture, nil)
		c.until(run, status)
		c.hold(run, "pause", object{}, 409, status)
		c.hold(run, "resume", object{}, 409, status)
	}
	c.envelope(c.do("POST", "/v1/runs/no-such-run:pause", nil), 404, "run_not_found")
	c.envelope(c.do("POST", "/v1/runs/:pause", nil), 404, "")
	run = c.create("conformance-cancellable", object{"delayMs": 20_000})
	c.envelope(c.do("POST", "/v1/runs/"+run+":pause", object{"drainPolicy": "soon"}), 400, "validation_error")
	c.envelope(c.do("POST", "/v1/runs/"+run+":pause", object{"until": 1}), 400, "validation_error")
	c.until(run, "running")
	c.hold(run, "pause", object{"drainPolicy": "immediate"}, 202, "paused")
	c.do("POST", "/v1/runs/"+run+"/cancel", nil) // a paused run is cancelled
	c.until(run, "cancelled")
	if types := c.typesOf(run); types[len(types)-1] != "run.cancelled" {
		c.Errorf("%v", types)
	}
}

func scenarioPauseTwice(c scenario) {
	run := c.create("conformance-cancellable", object{"delayMs": 20_000})
	c.until(run, "running")
	first := c.hold(run, "pause", object{"drainPolicy": "immediate"}, 202, "paused", "Idempotency-Key: k-"+run)
	second := c.hold(run, "pause", object{}, 409, "paused")
	if details := second.json["details"].(map[string]any); details["pausedAt"] != first.json["pausedAt"] {
		c.Errorf("%s", second.text)
	}
	again := c.hold(run, "pause", object{"drainPolicy": "immediate"}, 202, "paused", "Idempotency-Key: k-"+run)
	if again.text != first.text || again.header.Get("openwop-Idempotent-Replay") != "true" {
		c.Errorf("%s, %s %v", first.text, again.text, again.header)
	}
	c.envelope(c.do("POST", "/v1/runs/"+run+":pause", object{}, "Idempotency-Key: k-"+run), 409, "idempotency_key_mismatch")
	if types := c.typesOf(run); len(slices.DeleteFunc(types, func(t string) bool { return t != "run.paused" })) != 1 {
		c.Errorf("%v", types)
	}
	c.do("POST", "/v1/runs/"+run+"/cancel", nil)
}

func scenarioPauseSuspended(c scenario) {
	run := c.create("conformance-approval", nil)
	c.until(run, "waiting-approval")
	c.hold(run, "pause", object{"reason": "race"}, 409, "waiting-approval")
	if s := c.until(run, "waiting-approval"); s["currentNodeId"] != "gate" {
		c.Errorf("%v", s)
	}
	c.do("POST", "/v1/runs/"+run+"/cancel", nil)
}

func scenarioPolicies(c scenario) {
	doc := c.as("").do("GET", "/.well-known/openwop", nil).json
	for _, at := range []any{doc, doc["capabilities"]} {
		text, _ := json.Marshal(at.(map[string]any)["runs"])
		if string(text) != `{"pauseResume":{"drainPolicies":["immediate","drain-current-node"],"supported":true}}` {
			c.Errorf("%s", text)
		}
	}
	for policy, status := range map[string]string{"immediate": "paused", "drain-current-node": "running"} {
		run := c.create("conformance-cancellable", object{"delayMs": 20_000})
		c.until(run, "running")
		c.hold(run, "pause", object{"drainPolicy": policy}, 202, status)
		c.do("POST", "/v1/runs/"+run+"/cancel", nil)
		c.until(run, "cancelled")
	}
}

// TestServedPauseSurvivesKills: a run that was paused over HTTP or by a command stays paused when the server is killed, and continues when it
// is resumed by the other of the two: the log wakes the server. No step is performed twice.
func TestServedPauseSurvivesKills(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	c := scenario{t, s, s.key}
	cli := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("waybill", append(args, "--store", s.store)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
		return string(out)
	}
	overHTTP, byCommand := c.create("conformance-cancellable", object{"delayMs": 1500}), c.create("conformance-cancellable", object{"delayMs": 1500})
	c.until(overHTTP, "running")
	c.hold(overHTTP, "pause", object{"drainPolicy": "immediate"}, 202, "paused")
	if out := cli("runs", "pause", byCommand, "--reason", "by hand"); !strings.Contains(out, "is paused: by hand") {
		t.Error(out)
	}
	s.kill()
	s.start()
	time.Sleep(2500 * time.Millisecond) // both delays are over
	for _, run := range []string{overHTTP, byCommand} {
		c.until(run, "paused")
		if types := c.typesOf(run); slices.Contains(types, "node.completed") {
			t.Errorf("%v", types)
		}
	}
	cli("runs", "resume", overHTTP)
	c.hold(byCommand, "resume", object{}, 202, "running")
	for _, run := range []string{overHTTP, byCommand} {
		c.until(run, "completed")
		types := c.typesOf(run)
		for kind, want := range map[string]int{"run.paused": 1, "run.resumed": 1, "node.completed": 2, "run.completed": 1} {
			if n := len(slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t != kind })); n != want {
				t.Errorf("%d %s: %v", n, kind, types)
			}
		}
	}
	cli("verify")
}
