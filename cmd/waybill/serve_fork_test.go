//go:build linux

package main

import (
	"fmt"
	"reflect"
	"testing"
)

// TestServedForks does with a server what the public conformance scenarios about forks and replays do, and looks closer: a
// subtest has the name of the scenario's file. None of them passes where a mode or a fixture is missing.
func TestServedForks(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	weak := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "weak", "--scope", "runs:create"))
	for name, try := range map[string]func(scenario){"replay-fork": scenarioFork,
		"replay-fork-arbitrary": scenarioForkAnywhere, "replayDeterminism": scenarioDeterminism,
		"feedback-fork-not-copied": scenarioForkNotes, "scopes": func(c scenario) {
			run := c.create("conformance-noop", nil)
			c.envelope(c.as(weak).do("POST", "/v1/runs/"+run+":fork", object{"fromSeq": 0, "mode": "branch"}), 403, "forbidden")
		}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(scenario{t, s, s.key})
		})
	}
}

// modes requires both modes of forks in discovery, at the root and below capabilities.
func (c scenario) modes() {
	c.Helper()
	doc := c.as("").do("GET", "/.well-known/openwop", nil).json
	for _, at := range []map[string]any{doc, doc["capabilities"].(map[string]any)} {
		replay, _ := at["replay"].(map[string]any)
		if replay["supported"] != true || fmt.Sprint(replay["modes"]) != "[replay branch]" {
			c.Fatalf("discovery has %v", replay)
		}
	}
}

// finished creates a run of a fixture, and returns it with its events once it is complete.
func (c scenario) finished(fixture string) (run string, events []map[string]any) {
	c.Helper()
	run = c.create(fixture, nil)
	c.until(run, "completed")
	events, _ = c.poll(run, "")
	return run, events
}

// fork forks a run, which must succeed, and requires what the answer has.
func (c scenario) fork(run string, body object, headers ...string) string {
	c.Helper()
	r := c.do("POST", "/v1/runs/"+run+":fork", body, headers...)
	out, _ := r.json["runId"].(string)
	seq, _ := body["fromSeq"].(int)
	url, _ := r.json["eventsUrl"].(string)
	if r.status != 201 || out == "" || out == run || r.json["sourceRunId"] != run || r.json["mode"] != body["mode"] ||
		r.json["fromSeq"] != float64(seq) || r.json["status"] != "pending" || url != c.s.client().URL()+"/v1/runs/"+out+"/events" {
		c.Fatalf("fork: %d %s", r.status, r.text)
	}
	return out
}

// shapeOf is what two runs of the same events have in common.
func shapeOf(events []map[string]any) (out []string) {
	for _, e := range events {
		out = append(out, fmt.Sprint(e["sequence"], e["type"], e["nodeId"], e["payload"]))
	}
	return out
}

// sequence is that of the first event of a type at a node.
func (c scenario) sequence(events []map[string]any, kind, node string) int {
	c.Helper()
	for _, e := range events {
		if e["type"] == kind && (node == "" || e["nodeId"] == node) {
			return int(e["sequence"].(float64))
		}
	}
	c.Fatalf("no %s of %s in %v", kind, node, shapeOf(events))
	return 0
}

func scenarioFork(c scenario) {
	c.modes()
	run, events := c.finished("conformance-noop")
	for _, mode := range []string{"replay", "branch"} {
		body := object{"fromSeq": 0, "mode": mode}
		if mode == "branch" {
			body["runOptionsOverlay"] = object{}
		}
		again := c.fork(run, body)
		c.until(again, "completed")
		got, _ := c.poll(again, "")
		if mode == "replay" && !reflect.DeepEqual(shapeOf(got), shapeOf(events)) {
			c.Errorf("the replay has %v, its source %v", shapeOf(got), shapeOf(events))
		}
	}
	if again := c.fork(run, object{"mode": "replay"}); again == run {
		c.Error("a replay needs no sequence")
	}
	path := "/v1/runs/" + run + ":fork"
	for _, mode := range []string{"branch", "replay"} {
		c.envelope(c.do("POST", path, object{"fromSeq": -1, "mode": mode}), 400, "validation_error")
		c.envelope(c.do("POST", path, object{"fromSeq": 99999, "mode": mode}), 422, "unprocessable")
		c.envelope(c.do("POST", path, object{"fromSeq": len(events), "mode": mode}), 422, "unprocessable")
		c.envelope(c.do("POST", "/v1/runs/openwop-conformance-no-such-run-id:fork", object{"fromSeq": 0, "mode": mode}), 404,
			"run_not_found")
	}
	for _, body := range []object{{"fromSeq": 0, "mode": "rewind"}, {"fromSeq": 0}, {"mode": "branch"},
		{"fromSeq": 0, "mode": "replay", "runOptionsOverlay": object{"configurable": object{"recursionLimit": 50}}},
		{"fromSeq": 0, "mode": "branch", "extra": 1}, {"fromSeq": 0.5, "mode": "branch"}, {"fromSeq": "0", "mode": "branch"}} {
		c.envelope(c.do("POST", path, body), 400, "validation_error")
	}
	c.envelope(c.do("GET", path, nil), 405, "method_not_allowed")
	c.envelope(c.do("POST", "/v1/runs/"+run+":rewind", object{}), 404, "not_found")
}

func scenarioForkAnywhere(c scenario) {
	c.modes()
	run, events := c.finished("conformance-multi-node")
	from := c.sequence(events, "node.completed", "b") + 1
	for _, mode := range []string{"replay", "branch"} {
		var tails [][]string
		for range 2 {
			again := c.fork(run, object{"fromSeq": from, "mode": mode})
			c.until(again, "completed")
			got, _ := c.poll(again, "")
			if !reflect.DeepEqual(shapeOf(got[:from]), shapeOf(events[:from])) {
				c.Errorf("%s: before the fork: %v, want %v", mode, shapeOf(got[:from]), shapeOf(events[:from]))
			}
			for i, e := range got {
				if e["runId"] != again || e["sequence"] != float64(i) {
					c.Errorf("%s: %v", mode, e)
				}
			}
			tails = append(tails, shapeOf(got[from:]))
		}
		if !reflect.DeepEqual(tails[0], tails[1]) || !reflect.DeepEqual(tails[0], shapeOf(events[from:])) {
			c.Errorf("%s: %v, then %v, the source has %v", mode, tails[0], tails[1], shapeOf(events[from:]))
		}
	}
	// What a branch has before the fork is caused by the events of the source.
	again := c.fork(run, object{"fromSeq": from, "mode": "branch"})
	c.until(again, "completed")
	got, _ := c.poll(again, "")
	for i := range from {
		if got[i]["causationId"] != events[i]["eventId"] || got[i]["eventId"] == events[i]["eventId"] {
			c.Errorf("%v follows from %v", got[i], events[i])
		}
	}
	c.envelope(c.do("POST", "/v1/runs/"+run+":fork", object{"fromSeq": len(events) - 1, "mode": "branch"}), 422, "unprocessable")
	c.fork(run, object{"fromSeq": len(events) - 1, "mode": "replay"})
	c.envelope(c.do("POST", "/v1/runs/"+again+":fork", object{"mode": "replay"}), 422, "unprocessable")
}

func scenarioDeterminism(c scenario) {
	c.modes()
	run := c.create("conformance-identity", object{"text": "hello", "count": 3})
	c.until(run, "completed")
	want, _ := c.poll(run, "")
	for range 2 {
		again := c.fork(run, object{"fromSeq": 0, "mode": "replay"})
		c.until(again, "completed")
		if got, _ := c.poll(again, ""); !reflect.DeepEqual(shapeOf(got), shapeOf(want)) {
			c.Errorf("%v\nwant %v", shapeOf(got), shapeOf(want))
		}
	}
	// A run that failed fails again, and one that was cancelled is cancelled again.
	failed := c.create("conformance-failure", nil)
	c.until(failed, "failed")
	cancelled := c.create("conformance-cancellable", nil)
	c.do("POST", "/v1/runs/"+cancelled+"/cancel", object{"reason": "enough"})
	c.until(cancelled, "cancelled")
	for source, status := range map[string]string{failed: "failed", cancelled: "cancelled"} {
		was, _ := c.poll(source, "")
		again := c.fork(source, object{"mode": "replay"})
		c.until(again, status)
		if got, _ := c.poll(again, ""); !reflect.DeepEqual(shapeOf(got), shapeOf(was)) {
			c.Errorf("%s: %v\nwant %v", status, shapeOf(got), shapeOf(was))
		}
	}
	// One that waits has no input for its replay.
	open := c.create("conformance-clarification", nil)
	c.until(open, "waiting-input")
	again := c.fork(open, object{"mode": "replay"})
	state := c.until(again, "failed")
	if code := state["error"].(map[string]any)["code"]; code != "replay_source_missing" {
		c.Errorf("the replay failed as %v", code)
	}
	// A branch with the input that is missing is complete.
	open = c.create("conformance-configurable-schema", nil)
	c.until(open, "waiting-input")
	was, _ := c.poll(open, "")
	for from := range was {
		branch := c.fork(open, object{"mode": "branch", "fromSeq": from, "runOptionsOverlay": object{
			"inputs": object{"audience": "people"}, "tags": []string{"forked"}, "metadata": object{"a": 1}}})
		state := c.until(branch, "completed")
		if state["variables"].(map[string]any)["audience"] != "people" || fmt.Sprint(state["tags"], state["metadata"]) !=
			"[forked] map[a:1]" {
			c.Errorf("%v", state)
		}
		got, _ := c.poll(branch, "")
		if !reflect.DeepEqual(shapeOf(got[:from]), shapeOf(was[:from])) {
			c.Errorf("%v\nwant %v", shapeOf(got[:from]), shapeOf(was[:from]))
		}
		if c.sequence(got, "variable.changed", "") < from {
			c.Errorf("%v", shapeOf(got))
		}
	}
}

func scenarioForkNotes(c scenario) {
	c.modes()
	run := c.create("conformance-noop", nil)
	if r := c.do("POST", "/v1/runs/"+run+"/annotations", object{"signal": object{"kind": "flag"}}); r.status != 201 {
		c.Fatalf("annotate: %d %s", r.status, r.text)
	}
	c.until(run, "completed")
	count := func(run string) int {
		r := c.do("GET", "/v1/runs/"+run+"/annotations", nil)
		list, ok := r.json["annotations"].([]any)
		if r.status != 200 || !ok {
			c.Fatalf("annotations: %d %s", r.status, r.text)
		}
		return len(list)
	}
	if n := count(run); n != 1 {
		c.Fatalf("the source has %d annotations", n)
	}
	for _, mode := range []string{"branch", "replay"} {
		fork := c.fork(run, object{"fromSeq": 0, "mode": mode})
		c.until(fork, "completed")
		if n := count(fork); n != 0 {
			c.Errorf("the fork has %d annotations of its source", n)
		}
	}
	if n := count(run); n != 1 {
		c.Errorf("the source has %d annotations after that", n)
	}
}
