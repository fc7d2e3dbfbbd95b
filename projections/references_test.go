package projections_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/advance"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/projections"
)

// check runs the reference check over events cut into their segments.
func check(events []event.Event, owner string) *projections.References {
	r := projections.NewReferences(manifest.Log{Root: "sessions/x", Owner: owner, Table: event.Domain})
	start := 0
	for i := 1; i <= len(events); i++ {
		if i == len(events) || startsSegment(events[i]) {
			_ = r.Visit(manifest.Segment{Events: events[start:i]}, manifest.Head{})
			start = i
		}
	}
	return r
}

// TestBrokenReferences changes one event of a good log at a time; each change
// must be found, and named for what it is.
func TestBrokenReferences(t *testing.T) {
	stranger := id.RootNode(id.NewRun(id.Seed{7}))
	gap := id.FromStart(stranger).Gap(3)
	output := id.FromStart(stranger).Output(3)
	for name, tc := range map[string]struct {
		kind   string
		change func(event.Event) event.Event
		want   string
	}{
		"node of no run": {"decision_trace_appended", func(e event.Event) event.Event { e.Scope.NodeID = stranger; return e }, "not one of its run"},
		"unknown run":    {"gap_recorded", func(e event.Event) event.Event { e.Scope.RunID = id.NewRun(id.Seed{8}); return e }, "never started"},
		"parent": {"node_created", func(e event.Event) event.Event {
			p := e.Data.(event.NodeCreated)
			p.ParentNodeID = &stranger
			e.Data = p
			return e
		}, "not a node of the run"},
		"second root": {"node_created", func(e event.Event) event.Event {
			p := e.Data.(event.NodeCreated)
			p.ParentNodeID = nil
			e.Data = p
			return e
		}, "second root"},
		"edge": {"edge_created", func(e event.Event) event.Event {
			p := e.Data.(event.EdgeCreated)
			p.FromNodeID = stranger
			e.Data = p
			return e
		}, "not both of its run"},
		"cause": {"edge_created", func(e event.Event) event.Event {
			p := e.Data.(event.EdgeCreated)
			p.Cause.EventID = id.EventOf("x", "y")
			e.Data = p
			return e
		}, "no event of the log"},
		"resolved gap": {"gap_recorded", func(e event.Event) event.Event {
			p := e.Data.(event.GapRecorded)
			p.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: &gap}
			e.Data = p
			return e
		}, "never recorded"},
		"superseded output": {"node_output_appended", func(e event.Event) event.Event {
			p := e.Data.(event.NodeOutputAppended)
			p.SupersedesOutputID = &output
			e.Data = p
			return e
		}, "none of its node"},
		"outcome": {"advance_recorded", func(e event.Event) event.Event {
			p := e.Data.(event.AdvanceRecorded)
			p.Outcome = event.AdvancedTo(stranger)
			e.Data = p
			return e
		}, "does not create"},
		"context": {"context_set", func(e event.Event) event.Event {
			p := e.Data.(event.ContextSet)
			p.NodeID = &stranger
			e.Data = p
			return e
		}, "not one of its run"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrive(t, gated)
			d.try(d.r().Root, notes("no"))
			d.must(d.r().Root, advance.Request{Notes: "ok", Context: context("ticket", "T")})
			events := append([]event.Event{}, d.events...)
			last := -1
			for i, e := range events {
				if e.Data.Kind() == tc.kind {
					last = i
				}
			}
			events[last] = tc.change(events[last])
			got := check(events, d.fold.ID).Findings
			if len(got) == 0 || !strings.Contains(got[0].Message, tc.want) || got[0].Severity != manifest.SeverityError {
				t.Fatalf("want a finding with %q, got %+v", tc.want, got)
			}
		})
	}
}

func TestDuplicateDedupeKeyIsFound(t *testing.T) {
	d := newDrive(t, gated)
	twice := append(append([]event.Event{}, d.events...), d.events[len(d.events)-1])
	got := check(twice, d.fold.ID).Findings
	if len(got) != 1 || got[0].Code != manifest.DuplicateKey {
		t.Fatal(got)
	}
}

// TestConsumersKnowEveryKind feeds each fold every kind of the union, in a scope
// that fits none of its runs: nothing may panic, nothing may be taken for known.
func TestConsumersKnowEveryKind(t *testing.T) {
	d := newDrive(t, gated)
	payloads := []event.Payload{event.SessionCreated{}, event.RunStarted{}, event.NodeCreated{}, event.EdgeCreated{}, event.AdvanceRecorded{},
		event.ContextSet{}, event.PreferencesChanged{}, event.NodeOutputAppended{}, event.GapRecorded{Resolution: event.Resolution{Kind: event.Unresolved}},
		event.DecisionTraceAppended{}, event.CapabilityObserved{}, event.DivergenceRecorded{}, event.ObservationRecorded{},
		event.RunCancelRequested{}, event.RunClosed{}}
	if len(payloads) != len(event.Domain.Kinds()) {
		t.Fatalf("%d payloads for %d kinds: feed the new one too", len(payloads), len(event.Domain.Kinds()))
	}
	unknown := event.Scope{RunID: d.run, NodeID: id.RootNode(id.NewRun(id.Seed{6}))}
	for _, p := range payloads {
		e := event.Event{Index: d.fold.Next, Owner: d.fold.ID, Scope: unknown, Data: p}
		d.fold.Apply(e)
		_ = check([]event.Event{e}, d.fold.ID)
	}
}

// TestWhatWasNotReadIsNotMissed: where an event could not be read, what others
// refer to may be its; that is a matter of version, not of damage (R14).
func TestWhatWasNotReadIsNotMissed(t *testing.T) {
	d := newDrive(t, gated)
	line, err := event.Domain.AppendLine(nil, d.events[1])
	if err != nil {
		t.Fatal(err)
	}
	strange, err := event.Domain.DecodeLine([]byte(strings.Replace(strings.TrimSpace(string(line)), `"data":{`, `"data":{"added":1,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	events := append([]event.Event{}, d.events...)
	events[1] = strange
	if got := check(events, d.fold.ID).Findings; len(got) != 0 {
		t.Fatal(got)
	}
}
