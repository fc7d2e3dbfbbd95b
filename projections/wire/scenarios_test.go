package wire_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/wire"
)

// guided is a start in guided mode, auto one that stops for people only.
var (
	guided = engine.Start{Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "guided"}}}
	auto   = engine.Start{Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_stop_on_user_deps"}}}
)

// object parses a literal.
func object(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestScenarios: what a client reads, event by event.
func TestScenarios(t *testing.T) {
	for name, row := range map[string]struct {
		kinds []int
		start engine.Start
		play  func(*testing.T, *driver)
	}{
		"two steps": {[]int{0, 1}, auto, func(_ *testing.T, d *driver) {
			d.ack(advance.Request{Context: requests[7].Context})
			d.ack(requests[6])
			d.ack(requests[1])
		}},
		"a command that fails, and succeeds at the next try": {[]int{6}, auto, func(_ *testing.T, d *driver) {
			d.perform(1, 5)
			d.perform(2, 6)
			d.perform(0, 7)
		}},
		"an approval after what was handed in, and one that is sent back": {[]int{3, 9}, auto, func(_ *testing.T, d *driver) {
			d.ack(requests[6])
			d.decide(event.SentBack, "again")
			d.ack(requests[4])
			d.decide(event.Approved, "good")
			d.ack(advance.Request{})
			d.perform(0, 0)
		}},
		"a step that is denied": {[]int{3}, auto, func(_ *testing.T, d *driver) { d.decide(event.Denied, "no") }},
		"a confirmation in guided mode, of a command too": {[]int{2, 8}, guided, func(_ *testing.T, d *driver) {
			d.ack(advance.Request{})
			d.perform(0, 1)
		}},
		"the same steps when nothing is confirmed": {[]int{2, 8}, auto, func(_ *testing.T, d *driver) {
			d.ack(advance.Request{})
			d.perform(0, 1)
		}},
		"an input that is asked for, refused and given": {[]int{5}, auto, func(t *testing.T, d *driver) {
			d.ack(advance.Request{Context: object(t, `{"other":1}`)})
			d.ack(advance.Request{Context: object(t, `{"password":"a"}`)})
		}},
		"a run that is cancelled":        {[]int{0}, auto, func(_ *testing.T, d *driver) { d.cancel(false) }},
		"a run that is closed as failed": {[]int{6}, auto, func(_ *testing.T, d *driver) { d.cancel(true) }},
		"going back, and work that is kept": {[]int{0, 0, 0}, auto, func(_ *testing.T, d *driver) {
			d.ack(requests[0])
			first := d.nodes[0]
			d.checkpoint(d.last)
			d.ackAt(first, requests[1])
			d.ackAt(d.nodes[1], requests[0])
		}},
		"a run that is paused and resumed": {[]int{6, 0, 6}, auto, func(_ *testing.T, d *driver) {
			d.pause(false)
			d.perform(0, 5) // the command was running
			d.resume()
			d.ack(requests[1])
		}},
		"a pause after the current step": {[]int{0, 1, 0}, auto, func(_ *testing.T, d *driver) {
			d.pause(true)
			d.resume()
			d.pause(true)
			d.ack(requests[1])
			d.resume()
			d.pause(true)
			d.ack(advance.Request{}) // refused: the pause is in force too
		}},
		"a loop at its limit": {[]int{10}, auto, func(_ *testing.T, d *driver) {
			d.ack(requests[7])
			d.ack(requests[7])
			d.ack(requests[3])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, workflowOf(row.kinds), row.start, 1_700_000_000_000, 1000)
			row.play(t, d)
			if d.err != nil {
				t.Fatal(d.err)
			}
			events, l := project(d)
			agrees(t, events, l.Snapshot())
			compare(t, name, events)
		})
	}
}

// TestTitlesHaveNoShortSecrets: a secret that is too short to be found in any sentence does not appear in a title
// that repeats it.
func TestTitlesHaveNoShortSecrets(t *testing.T) {
	d := newDriver(t, `{"id":"test.any","name":"Any","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"Sign in with {{password}}","prompt":"p"},
		{"id":"b","title":"And with {{password}}","prompt":"p","requireConfirmation":{"kind":"human_approval"},
			"inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"The ticket."}]}]}`,
		engine.Start{Context: object(t, `{"password":"q7"}`)}, 1_700_000_000_000, 1000)
	d.ack(advance.Request{Notes: "done"})
	d.ack(advance.Request{Notes: "done", Context: object(t, `{"ticket":"T-1"}`)}) // an approval is lacking still
	events, l := project(d)
	if doc, err := canon.Marshal([]any{events, l.Snapshot()}); err != nil || strings.Contains(string(doc), "q7") ||
		!strings.Contains(string(doc), "Sign in with [") || !strings.Contains(string(doc), "And with [") {
		t.Errorf("%v: %s", err, doc)
	}
}

var update = flag.Bool("update", false, "write the golden files of scenarios")

// compare compares the events of a scenario with its golden file. Vendor events that only explain are left
// out.
func compare(t *testing.T, name string, events []openwop.RunEvent) {
	t.Helper()
	var shown []openwop.RunEvent
	for _, e := range events {
		switch e.Type {
		case "waybill.preferences_changed", "waybill.decision_trace_appended", "waybill.gap_recorded":
		default:
			shown = append(shown, e)
		}
	}
	got := lines(shown, "typeId", "attempts", "attempt", "kind", "error", "name", "next", "questions", "answers", "outputs",
		"action", "actions", "requiredApprovals", "artifactType", "decidedBy", "comment", "iterations", "failedNodeId", "reason",
		"cancelledBy", "interruptId", "key", "data", "drainPolicy", "limit", "observed") + "\n"
	path := filepath.Join("testdata", "scenarios", strings.NewReplacer(" ", "_", ",", "").Replace(name)+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || got != string(want) {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, want)
	}
}

// TestIdsOfNodesAreBounded: a long key is cut and stays unique.
func TestIdsOfNodesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 60)
	text := fmt.Sprintf(`{"id":"test.deep","name":"Deep","description":"d","version":"1.0.0","steps":[{"id":"a%[1]s","title":"L","type":"loop",`+
		`"loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"b%[1]s","title":"L","type":"loop",`+
		`"loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"c%[1]s","title":"S","prompt":"p"}]}]}]}`, long)
	d := newDriver(t, text, auto, 1, 1)
	for range 4 {
		d.ack(advance.Request{})
	}
	events, l := project(d)
	if l.Status() != openwop.Completed || len(l.Snapshot().NodeStates) != 4 {
		t.Fatalf("%s, %d nodes", l.Status(), len(l.Snapshot().NodeStates))
	}
	for _, e := range events {
		if len(e.NodeID) > openwop.NodeIDBytesMax || e.NodeID != "" && len(e.NodeID) != openwop.NodeIDBytesMax {
			t.Errorf("%d bytes: %s", len(e.NodeID), e.NodeID)
		}
	}
}

// TestAfterTheEndNothingFollows: a rewind of a complete run is not on the wire.
func TestAfterTheEndNothingFollows(t *testing.T) {
	d := newDriver(t, workflowOf([]int{0}), auto, 1, 1)
	d.ack(advance.Request{})
	before, _ := project(d)
	d.ackAt(d.nodes[0], requests[2])
	d.checkpoint(d.nodes[0])
	after, l := project(d)
	if len(d.segments()) < 4 || len(before) != len(after) || l.Status() != openwop.Completed || !l.Ended() {
		t.Fatalf("%d segments, %d events then %d, %s", len(d.segments()), len(before), len(after), l.Status())
	}
}

// TestOpenNamesWhatTheRunWaitsFor: the interrupt of a suspended run, none otherwise.
func TestOpenNamesWhatTheRunWaitsFor(t *testing.T) {
	d := newDriver(t, workflowOf([]int{4, 6}), auto, 1, 1)
	_, l := project(d)
	if open, ok := l.Open(); !ok || open.NodeID != "s0" || open.ID != "s0:1" || open.Kind != openwop.ClarificationInterrupt ||
		fmt.Sprint(open.Questions) != "[{ticket []}]" || l.Status() != openwop.WaitingInput {
		t.Fatalf("%+v %v", open, ok)
	}
	d.ack(requests[2])
	if _, l = project(d); l.Status() != openwop.Running {
		t.Fatal(l.Status())
	}
	if open, ok := l.Open(); ok {
		t.Fatalf("%+v", open)
	}
	none := wire.New(d.last.Session.RunID)
	if _, ok := none.Open(); ok || none.Status() != openwop.Pending || none.Snapshot().Status != openwop.Pending {
		t.Fatal("a run without events")
	}
}

// TestNodesAreFoundByTheirIdOnTheWire: the last one that started, where several have one id.
func TestNodesAreFoundByTheirIdOnTheWire(t *testing.T) {
	d := newDriver(t, workflowOf([]int{0, 0}), auto, 1, 1)
	d.ack(requests[0])
	first := d.last.NodeID
	d.ackAt(d.nodes[0], requests[1])
	_, l := project(d)
	second := d.last.NodeID
	if got, ok := l.Find("s1"); !ok || got != second || first == second {
		t.Errorf("%s %v, want %s", got, ok, second)
	}
	for _, n := range []struct {
		of   engine.Answer
		want string
	}{{d.nodes[0], "s0"}, {d.nodes[1], "s1"}, {d.nodes[2], "s1"}} {
		if got, ok := l.NodeID(n.of.NodeID); !ok || got != n.want {
			t.Errorf("%s: %q %v", n.of.NodeID, got, ok)
		}
	}
	if got, ok := l.Find("s9"); ok {
		t.Error(got)
	}
}
