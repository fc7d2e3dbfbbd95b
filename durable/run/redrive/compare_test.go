package redrive_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/redrive"
)

var (
	session = id.NewSession(id.Seed{1})
	log     = manifest.SessionEvents(session)
	run     = event.Scope{RunID: id.NewRun(id.Seed{1})}
	root    = event.Scope{RunID: run.RunID, NodeID: id.RootNode(run.RunID)}
)

func traced(entries ...event.TraceEntry) event.Payload {
	return event.DecisionTraceAppended{TraceID: id.FromStart(root.NodeID).Trace(0), Entries: entries}
}

func entry(summary string, refs ...event.TraceRef) event.TraceEntry {
	return event.TraceEntry{Kind: event.SelectedNextStep, Summary: summary, Refs: refs}
}

func plan(payloads ...event.Payload) manifest.Plan {
	p := manifest.Plan{Log: log}
	for i, data := range payloads {
		scope := root
		if _, ok := data.(event.RunCancelRequested); ok {
			scope = run
		}
		p.Events = append(p.Events, event.New(log.Owner, int64(7+i), scope, event.Actor{Kind: event.Engine}, 1, data))
	}
	return p
}

func TestCompare(t *testing.T) {
	step := event.StepRef("a")
	was := []event.Payload{traced(entry("one", step), entry("two")), event.RunCancelRequested{Reason: "r"}}
	for _, row := range []struct {
		name    string
		now     manifest.Plan
		event   int64
		pointer string
		message string
	}{
		{"the same", plan(was...), 0, "", ""},
		{"a member deep inside", plan(traced(entry("one", event.StepRef("b")), entry("two")), was[1]), 7,
			"/data/entries/0/refs/0/stepId", "different content"},
		{"a member more", plan(was[0], event.RunCancelRequested{Reason: "r", Outcome: event.OutcomeFailed}), 8,
			"/data/outcome", "different content"},
		{"a member less", plan(traced(entry("one"), entry("two")), was[1]), 7, "/data/entries/0/refs",
			"different content"},
		{"an item less", plan(traced(entry("one", step)), was[1]), 7, "/data/entries/1", "different content"},
		{"an item more", plan(traced(entry("one", step), entry("two"), entry("three")), was[1]), 7, "/data/entries/2",
			"different content"},
		{"an event less", plan(was[0]), 8, "", "does not record this event"},
		{"an event more", plan(was[0], was[1], traced(entry("x"))), 9, "", "an additional event"},
		{"nothing", plan(), 7, "", "records nothing"},
		{"what cannot be written", plan(traced()), 7, "", "cannot be encoded"},
	} {
		t.Run(row.name, func(t *testing.T) {
			recorded, err := manifest.EncodeSegment(log, plan(was...).Events)
			if err != nil {
				t.Fatal(err)
			}
			d := redrive.Compare(recorded, row.now)
			if row.message == "" {
				if d != nil {
					t.Errorf("%+v", d)
				}
				return
			}
			if d == nil || d.EventIndex != row.event || d.Pointer != row.pointer ||
				!strings.Contains(d.Message, row.message) || d.Segment != "00000007-00000008.jsonl" {
				t.Fatalf("%+v", d)
			}
			if (d.Expected == "") != (row.event == 9) ||
				(d.Got == "") != (row.name == "an event less" || row.event == 7 && row.pointer == "") {
				t.Errorf("lines %q and %q", d.Expected, d.Got)
			}
		})
	}
}

func TestOperationOfUnknownSegments(t *testing.T) {
	for name, events := range map[string][]event.Event{
		"nothing":     nil,
		"a trace":     plan(traced(entry("x"))).Events,
		"a step node": plan(event.NodeCreated{NodeKind: event.StepNode}).Events,
		"an output":   plan(event.NodeOutputAppended{Payload: event.OutputPayload{ArtifactKind: "report"}}).Events,
	} {
		if got := redrive.OperationOf(events); got != redrive.Unknown {
			t.Errorf("%s: %s", name, got)
		}
	}
}
