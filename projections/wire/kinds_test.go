package wire_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/wire"
)

// nothing are Lookups of a store whose objects have unknown forms.
type nothing struct{ err error }

// State implements wire.Lookups.
func (n nothing) State(canon.Digest) (wire.State, error) { return wire.State{}, n.err }

// Workflow implements wire.Lookups.
func (nothing) Workflow(canon.Digest) (*compile.Compiled, error) { return nil, nil }

// forged builds segments of events that no operation wrote together.
type forged struct {
	session id.Session
	run     id.Run
	next    int64
}

// newForged returns a builder, the root of its run, and the segment that starts the run.
func newForged() (f *forged, root id.Node, start manifest.Segment) {
	f = &forged{session: id.NewSession(id.Seed{1}), run: id.NewRun(id.Seed{2})}
	root = id.RootNode(f.run)
	start = f.segment(f.of(id.Node{}, event.RunStarted{WorkflowID: "w", WorkflowHash: canon.Sum(nil), WorkflowSourceKind: event.SourceUser}),
		f.of(root, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: canon.Sum(nil), WorkflowHash: canon.Sum(nil)}))
	return f, root, start
}

// of is the next event, at a node or of the run.
func (f *forged) of(n id.Node, p event.Payload) event.Event {
	e := event.New(f.session.String(), f.next, event.Scope{RunID: f.run, NodeID: n}, event.Actor{Kind: event.Agent}, 1000+f.next, p)
	f.next++
	return e
}

// segment is a segment of events.
func (f *forged) segment(events ...event.Event) manifest.Segment {
	return manifest.Segment{First: events[0].Index, Last: events[len(events)-1].Index, Events: events}
}

// eachKind says for each golden line of an event which run events it gives after the start of its run.
var eachKind = map[string]string{
	"session_handed_over": "", "session_handed_over.unnamed": "", "session_taken_back": "", // about the session
	"session_created": "", "session_created.imported": "", "observation_recorded": "", "observation_recorded.at_node": "",
	"run_started": "", "run_started.forked": "", "run_started.options": "", // the run is started already
	"node_created": "", // the root exists already
	"edge_created": "",
	// Of another program's or a damaged log: a checkpoint without more.
	"node_created.child":            "waybill.checkpoint",
	"advance_recorded":              "interrupt.resolved node.resumed node.completed",
	"advance_recorded.elicited":     "interrupt.resolved node.resumed node.completed",
	"advance_recorded.response":     "interrupt.resolved node.resumed node.completed",
	"advance_recorded.blocked":      "interrupt.resolved node.resumed clarification.requested node.suspended",
	"context_set":                   "variable.changed variable.changed",
	"preferences_changed":           "waybill.preferences_changed",
	"node_output_appended":          "waybill.notes",
	"node_output_appended.artifact": "artifact.created",
	"gap_recorded":                  "waybill.gap_recorded",
	"gap_recorded.loop":             "waybill.gap_recorded",
	"gap_recorded.resolving":        "waybill.gap_recorded",
	"decision_trace_appended":       "waybill.decision_trace_appended",
	"capability_observed":           "waybill.capability_observed",
	"divergence_recorded":           "waybill.divergence_recorded",
	"run_cancel_requested":          "waybill.cancel_requested",
	"run_cancel_requested.failed":   "waybill.cancel_requested",
	"run_closed":                    "node.cancelled run.failed",
	"run_closed.limit":              "cap.breached run.failed",
	"run_paused":                    "run.paused",
	"run_paused.drain":              "waybill.pause_requested",
	"run_resumed":                   "waybill.pause_withdrawn", // nothing was paused
	"run_resumed.reason":            "waybill.pause_withdrawn",
	"guard_noted":                   "waybill.guard_noted",
	"guard_noted.let_go":            "waybill.guard_noted",
	"run_event_recorded":            "provider.usage",
	"run_event_recorded.sent":       "envelope.refusal",
}

// anID matches the id of a record.
var anID = regexp.MustCompile(`(sess|run|node|evt|attempt|out|gap|chg|trace|capobs|div|ctx)_[a-z2-7]{26}`)

// TestEveryKindIsProjected: each kind, and each form of it, gives what the table says.
func TestEveryKindIsProjected(t *testing.T) {
	files, err := filepath.Glob("../../testdata/events/*.jsonl")
	if err != nil || len(files) < len(eachKind) {
		t.Fatal(len(files), err)
	}
	kinds := map[string]bool{}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		line, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.Domain.DecodeLine(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(name, err)
		}
		want, listed := eachKind[name]
		if !listed {
			t.Errorf("%s: what it gives is not in the table", name)
			continue
		}
		kinds[e.Data.Kind()] = true
		f, _, start := newForged()
		l := wire.New(f.run)
		if _, err := l.Visit(start, stepOf("a")); err != nil {
			t.Fatal(err)
		}
		got, err := l.Visit(f.segment(e), stepOf("a"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text := strings.Join(typesOf(got), " "); text != want {
			t.Errorf("%s gives %q, want %q", name, text, want)
		}
		for _, r := range got {
			if anID.Match(r.Payload.JCS()) {
				t.Errorf("%s: a record's id in %s", name, r.Payload.JCS())
			}
		}
	}
	for _, kind := range event.Domain.Kinds() {
		if !kinds[kind] {
			t.Errorf("no event of kind %s was projected", kind)
		}
	}
}

// typesOf lists the types of events.
func typesOf(events []openwop.RunEvent) (out []string) {
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return out
}

// TestKindsOfOtherVersions: a kind that is not known gives waybill.unknown, one that may be ignored nothing;
// neither is an error.
func TestKindsOfOtherVersions(t *testing.T) {
	f, _, start := newForged()
	l := wire.New(f.run)
	if _, err := l.Visit(start, nothing{}); err != nil {
		t.Fatal(err)
	}
	line := func(kind, more string) string {
		return `{"data":{"secret":"x"},"dedupeKey":"` + kind + `:1","eventId":"evt_` + strings.Repeat("a", 26) +
			`","eventIndex":9,` + more + `"kind":"` + kind + `","scope":{"runId":"` + f.run.String() + `"},"sessionId":"` +
			f.session.String() + `","timestampMs":5,"v":1}`
	}
	for text, want := range map[string]string{line("run_painted", ""): "waybill.unknown",
		line("run_noted", `"ignorable":true,`): ""} {
		e, err := event.Domain.DecodeLine([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Visit(f.segment(e), nothing{})
		if err != nil || strings.Join(typesOf(got), " ") != want {
			t.Errorf("%v %v, want %q", typesOf(got), err, want)
		}
		if want != "" && string(got[0].Payload.JCS()) != `{"kind":"run_painted"}` {
			t.Errorf("%s", got[0].Payload.JCS())
		}
	}
}

// TestAHostStepThatFails: the node fails and is not suspended, and the run fails with its error.
func TestAHostStepThatFails(t *testing.T) {
	f, root, start := newForged()
	attempt := id.NextAttempt(root, id.OpAck, 0)
	origin := id.FromAttempt(attempt, id.OpAck)
	refused := f.segment(f.of(root, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.BlockedBy(reason.NewReport([]reason.Blocker{{Code: reason.BlockerInvalidOutput,
			Pointer: reason.WorkflowStep("fail"), Message: "it failed"}}))}),
		f.of(root, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(0), Payload: event.OutputPayload{
			PayloadKind: event.ArtifactRef, ArtifactKind: wire.HostResultKind, SHA256: canon.Sum(nil), ContentType: "application/json", ByteLength: 1}}))
	closed := f.segment(f.of(id.Node{}, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "the host closed it"}))
	for name, segments := range map[string][]manifest.Segment{"two segments": {refused, closed},
		"one segment": {{First: refused.First, Last: closed.Last, Events: slices.Concat(refused.Events, closed.Events)}}} {
		l := wire.New(f.run)
		if _, err := l.Visit(start, stepOf("fail")); err != nil {
			t.Fatal(err)
		}
		var got []openwop.RunEvent
		for _, seg := range segments {
			events, err := l.Visit(seg, stepOf("fail"))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, events...)
		}
		const failure = `{"code":"step_failed","message":"it failed"}`
		want := "interrupt.resolved fail\nnode.resumed fail\nnode.failed fail error=" + failure + "\nrun.failed error=" + failure + " failedNodeId=fail"
		if text := lines(got, "error", "failedNodeId"); text != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, want)
		}
		if s := l.Snapshot(); s.Status != openwop.Failed || s.Error.Message != "it failed" || s.NodeStates["fail"].Status != openwop.NodeIsFailed {
			t.Errorf("%+v", s)
		}
	}
}

// TestDamagedLogsGiveNoEventsAndNoPanic: facts of runs and nodes that the log never creates.
func TestDamagedLogsGiveNoEventsAndNoPanic(t *testing.T) {
	f, root, start := newForged()
	other := id.ChildNode(root, id.NextAttempt(root, id.OpAck, 7), id.OpAck)
	l := wire.New(f.run)
	advanced := f.of(root, event.AdvanceRecorded{AttemptID: id.NextAttempt(root, id.OpAck, 0), Intent: event.IntentAckPending, Outcome: event.AdvancedTo(other)})
	if got, err := l.Visit(f.segment(advanced, f.of(id.Node{}, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "r"})), nothing{}); err != nil || len(got) != 0 {
		t.Fatalf("%v %v", got, err)
	}
	if _, err := l.Visit(start, nothing{}); err != nil {
		t.Fatal(err)
	}
	lost := f.of(other, event.AdvanceRecorded{AttemptID: id.NextAttempt(other, id.OpAck, 0), Intent: event.IntentAckPending, Outcome: event.AdvancedTo(root)})
	if got, err := l.Visit(f.segment(lost), nothing{}); err != nil || len(got) != 0 {
		t.Fatalf("%v %v", typesOf(got), err)
	}
	if _, err := wire.New(f.run).Visit(start, nothing{fault.New(fault.StoreCorrupt, "gone")}); !fault.Is(err, fault.StoreCorrupt) {
		t.Fatal(err)
	}
}

// stepOf are Lookups of runs that are at one step.
func stepOf(step string) wire.Lookups { return oneStep{step: step} }

// oneStep is a store in which every node is at one step.
type oneStep struct {
	nothing
	step string
}

// State implements wire.Lookups.
func (o oneStep) State(canon.Digest) (wire.State, error) {
	s := snapshot.At(o.step, nil, nil)
	return wire.State{View: s.View(), Known: &s}, nil
}
