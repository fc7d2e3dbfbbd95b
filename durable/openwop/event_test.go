package openwop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

// sample is an event that may be sent.
func sample(more string) openwop.RunEvent {
	return openwop.RunEvent{EventID: "e", RunID: "r", NodeID: "a", Type: openwop.NodeCompleted, Timestamp: "2026-01-01T00:00:00.000Z",
		Payload: canon.OfMembers(canon.Member{Name: "nodeId", Value: canon.OfString("a" + more)})}
}

// TestEventsAreCheckedBeforeTheyAreSent: ids, place and payload.
func TestEventsAreCheckedBeforeTheyAreSent(t *testing.T) {
	if err := sample("").Check(); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", openwop.NodeIDBytesMax+1)
	for name, change := range map[string]func(*openwop.RunEvent){
		"no id": func(e *openwop.RunEvent) { e.EventID = "" }, "a long id": func(e *openwop.RunEvent) { e.EventID = long },
		"no run": func(e *openwop.RunEvent) { e.RunID = "" }, "a long node id": func(e *openwop.RunEvent) { e.NodeID = long },
		"a long cause": func(e *openwop.RunEvent) { e.CausationID = long }, "before the first": func(e *openwop.RunEvent) { e.Sequence = -1 },
		"no time": func(e *openwop.RunEvent) { e.Timestamp = "" }, "another payload": func(e *openwop.RunEvent) { e.Type = openwop.NodeFailed },
	} {
		e := sample("")
		if change(&e); e.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestReadersAcceptWhatTheyDoNotKnow: types, members and payloads of other hosts.
func TestReadersAcceptWhatTheyDoNotKnow(t *testing.T) {
	for text, want := range map[string]bool{
		`{"eventId":"e","runId":"r","type":"acme.x","payload":7,"timestamp":"t","sequence":3,"engineVersion":"1","new":{"a":1}}`: true,
		`{"eventId":"e","runId":"r","type":"run.started","payload":{},"timestamp":"t","sequence":0}`:                             true, // breaks its contract
		`{"runId":"r","type":"run.started","payload":{},"timestamp":"t","sequence":0}`:                                           false,
		`{"eventId":"e","runId":"r","type":"run.started","payload":{},"timestamp":"t","sequence":"0"}`:                           false,
		`[]`: false,
	} {
		if _, err := openwop.DecodeRunEvent([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDebugBundlesAreBounded: what does not fit is left out from the end, and the bundle says so.
func TestDebugBundlesAreBounded(t *testing.T) {
	run := openwop.Snapshot{RunID: "r", WorkflowID: "w", Status: openwop.Completed, Variables: canon.OfMembers(),
		NodeStates: map[string]openwop.NodeState{}, Metrics: openwop.Metrics{EventCount: 9, NodeCount: 1}}
	host := openwop.Host{Name: "waybill", Version: "1"}
	const at = "2026-01-01T00:00:00.000Z"
	for name, row := range map[string]struct {
		events, annotations, bytes int
		letter                     string
		nodes                      int
		truncated                  bool
	}{"small": {3, 2, 10, "x", 0, false}, "many events": {3000, 1, 4000, "x", 0, true},
		"many annotations": {3, 3000, 4000, "x", 0, true},
		// Each letter is sent as an escape of six bytes.
		"many escapes": {3000, 1, 1000, "\u200b", 0, true}, "many nodes": {3000, 1, 4000, "x", 120_000, true}} {
		var events openwop.BundleEvents
		for i := range row.events {
			e := sample(strings.Repeat(row.letter, row.bytes))
			e.Sequence = int64(i)
			if err := events.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		run := run
		run.NodeStates = map[string]openwop.NodeState{}
		for i := range row.nodes {
			run.NodeStates[fmt.Sprint("n", i)] = openwop.NodeState{Status: openwop.NodeIsCompleted, StartedAt: at}
		}
		annotations := make([]canon.Value, row.annotations)
		for i := range annotations {
			annotations[i] = canon.OfMembers(canon.Member{Name: "note", Value: canon.OfString(strings.Repeat("x", row.bytes))})
		}
		b, err := openwop.NewDebugBundle(at, host, run, &events, annotations)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := canon.Marshal(b)
		doc = invisible.EscapeJSON(doc)
		if err != nil || len(doc) > openwop.BundleBytesMax || b.Truncated != row.truncated ||
			b.Metrics.EventCount != int64(len(b.Events)) || b.Truncated && len(doc) < openwop.BundleBytesMax/5 {
			t.Errorf("%s: %d bytes, %d events, %d annotations, truncated %v, %v", name, len(doc), len(b.Events),
				len(b.Annotations), b.Truncated, err)
		}
		if !strings.HasPrefix(name, "many") {
			t.Run("published schema", func(t *testing.T) {
				if err := openwoptest.Published(t).Check("debug-bundle", doc); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
