package rewrite_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/travel/rewrite"
)

// TestRetainedIDsDoNotChangeResult: a renaming that retains every id of the log gives the
// same events.
func TestRetainedIDsDoNotChangeResult(t *testing.T) {
	few(t, "30")
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		session := w.drive(rt)[0]
		other := rapid.Bool().Draw(rt, "ids without derivation")
		mangle := map[string]string{}
		var segments [][]event.Event
		for _, seg := range read(t, w.store, manifest.SessionEvents(session)) {
			events := slices.Clone(seg.Events)
			for i := range events {
				if other {
					events[i] = mangled(rt, events[i], mangle)
				}
			}
			segments = append(segments, events)
		}
		to := id.ImportedSession(store, "h")
		lean, full := rewrite.NewRenaming(session, to, store, canon.Sum(nil)),
			rewrite.NewRenaming(session, to, store, canon.Sum(nil))
		for _, events := range segments {
			lean.CollectReferences(events)
			full.CollectReferences(events)
			for l := range bytes.Lines(line(rt, events)) {
				if err := full.CollectLineReferences(bytes.TrimSpace(l)); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for _, events := range segments {
			a, err := lean.Segment(events)
			if err != nil {
				rt.Fatal(err)
			}
			b, err := full.Segment(events)
			if err != nil {
				rt.Fatal(err)
			}
			if got, want := line(rt, a), line(rt, b); !bytes.Equal(got, want) {
				rt.Fatalf("a reference was lost:\n%s\n%s", got, want)
			}
		}
	})
}

// TestReferencesAcrossSegments: evidence, resolved gaps, superseded outputs and repeated
// attempts may be in other segments, earlier or later.
func TestReferencesAcrossSegments(t *testing.T) {
	session, to, run := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2}), id.NewRun(id.Seed{1})
	root := id.RootNode(run)
	at, origin := event.Scope{RunID: run, NodeID: root}, id.FromStart(root)
	made := func(n int64, p event.Payload) event.Event {
		return event.New(session.String(), n, at, event.Actor{Kind: event.Engine}, 1, p)
	}
	notes := func(n int, supersedes *id.Output) event.Payload {
		return event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(n),
			SupersedesOutputID: supersedes,
			Payload:            event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "n"}}
	}
	gap := func(n int, resolves *id.Gap, evidence ...event.EvidenceRef) event.Payload {
		out := event.GapRecorded{GapID: origin.Gap(n), Reason: reason.NeedsApproval, Severity: event.Info, Summary: "s",
			Resolution: event.Resolution{Kind: event.Unresolved}, EvidenceRefs: evidence}
		if resolves != nil {
			out.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: resolves}
		}
		return out
	}
	attempt := id.NextAttempt(root, id.OpAck, 0)
	advance := event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.AdvancedTo(id.ChildNode(root, attempt, id.OpAck))}
	first, late, open := origin.Output(0), origin.Output(2), origin.Gap(0)
	began := made(0, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: canon.Sum(nil),
		WorkflowHash: canon.Sum(nil)})
	segments := [][]event.Event{
		{began, made(1, notes(0, nil)), made(2, advance)},
		{made(3, gap(0, nil, event.EvidenceRef{Kind: "event", EventID: &began.ID},
			event.EvidenceRef{Kind: "output", OutputID: &late}))},
		{made(4, notes(1, &first)), made(5, gap(1, &open)), made(6, advance)},
		{made(7, notes(2, nil))},
	}
	r := rewrite.NewRenaming(session, to, store, canon.Sum(nil))
	for _, s := range segments {
		r.CollectReferences(s)
	}
	var is []event.Event
	for _, s := range segments {
		out, err := r.Segment(s)
		if err != nil {
			t.Fatal(err)
		}
		is = append(is, out...)
	}
	output := func(i int) event.NodeOutputAppended { return is[i].Data.(event.NodeOutputAppended) }
	gaps := func(i int) event.GapRecorded { return is[i].Data.(event.GapRecorded) }
	if got := gaps(3).EvidenceRefs; *got[0].EventID != is[0].ID || *got[1].OutputID != output(7).OutputID {
		t.Errorf("evidence: %+v", got)
	}
	if *output(4).SupersedesOutputID != output(1).OutputID || output(1).OutputID == first {
		t.Errorf("%+v", output(4))
	}
	if *gaps(5).Resolution.ResolvesGapID != gaps(3).GapID || gaps(3).GapID == open {
		t.Errorf("%+v", gaps(5))
	}
	a, b := is[2].Data.(event.AdvanceRecorded), is[6].Data.(event.AdvanceRecorded)
	if a.AttemptID != b.AttemptID || a.AttemptID == attempt {
		t.Errorf("%s and %s", a.AttemptID, b.AttemptID)
	}
}

// TestUncollectedReferencesAreRefused: the new id may have been dropped, and a second one
// would break the reference.
func TestUncollectedReferencesAreRefused(t *testing.T) {
	session, run := id.NewSession(id.Seed{1}), id.NewRun(id.Seed{1})
	root := id.RootNode(run)
	at, origin := event.Scope{RunID: run, NodeID: root}, id.FromStart(root)
	far, output, open := id.EventOf("x", "y"), origin.Output(3), origin.Gap(3)
	gap := event.GapRecorded{GapID: origin.Gap(0), Reason: reason.NeedsApproval, Severity: event.Info, Summary: "s",
		Resolution: event.Resolution{Kind: event.Unresolved}}
	of := func(change func(*event.GapRecorded)) event.Payload { g := gap; change(&g); return g }
	for name, p := range map[string]event.Payload{
		"cause": event.EdgeCreated{Cause: event.Cause{EventID: far, Kind: event.IntentionalFork},
			EdgeKind: event.AckedStepEdge, FromNodeID: root, ToNodeID: root},
		"evidence": of(func(g *event.GapRecorded) {
			g.EvidenceRefs = []event.EvidenceRef{{Kind: "event",
				EventID: &far}}
		}),
		"output": of(func(g *event.GapRecorded) {
			g.EvidenceRefs = []event.EvidenceRef{{Kind: "output",
				OutputID: &output}}
		}),
		"resolved": of(func(g *event.GapRecorded) {
			g.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: &open}
		}),
		"superseded": event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
			SupersedesOutputID: &output,
			Payload:            event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "n"}},
	} {
		e := event.New(session.String(), 0, at, event.Actor{Kind: event.Engine}, 1, p)
		r := rewrite.NewRenaming(session, id.NewSession(id.Seed{2}), store, canon.Sum(nil))
		if _, err := r.Segment([]event.Event{e}); !fault.Is(err, fault.Invariant) {
			t.Errorf("%s: %v", name, err)
		}
		r = rewrite.NewRenaming(session, id.NewSession(id.Seed{2}), store, canon.Sum(nil))
		r.CollectReferences([]event.Event{e})
		if _, err := r.Segment([]event.Event{e}); err != nil {
			t.Errorf("%s, foreseen: %v", name, err)
		}
	}
	for _, text := range []string{far.String(), output.String(), open.String(), id.NextAttempt(root, id.OpAck, 0).
		String()} {
		r := rewrite.NewRenaming(session, id.NewSession(id.Seed{2}), store, canon.Sum(nil))
		side := []byte(`{"about":"` + text + `"}`)
		if _, err := r.OpaqueLine(side); !fault.Is(err, fault.Invariant) {
			t.Errorf("%s: %v", text, err)
		}
		r = rewrite.NewRenaming(session, id.NewSession(id.Seed{2}), store, canon.Sum(nil))
		if err := r.CollectLineReferences(side); err != nil {
			t.Fatal(err)
		}
		if got, err := r.OpaqueLine(side); err != nil || !bytes.Equal(got, side) {
			t.Errorf("%s, foreseen: %s %v", text, got, err)
		}
	}
}

// TestManyNodes: each node has one new id, however many there are.
func TestManyNodes(t *testing.T) {
	session, to := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2})
	r := rewrite.NewRenaming(session, to, store, canon.Sum(nil))
	const many = 3000
	was, next := make([]id.Node, many), int64(0)
	named := func(i int, p event.Payload) id.Node {
		run := id.NewRun(id.Seed{1, byte(i), byte(i >> 8)})
		was[i] = id.RootNode(run)
		e := event.New(session.String(), next, event.Scope{RunID: run, NodeID: was[i]}, event.Actor{Kind: event.Engine},
			1, p)
		next++
		out, err := r.Segment([]event.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Scope.NodeID
	}
	is := make([]id.Node, many)
	for i := range many {
		is[i] = named(i, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: canon.Sum(nil),
			WorkflowHash: canon.Sum(nil)})
	}
	nodes := r.Mapping().Nodes
	for i := range many {
		if again := named(i, event.DecisionTraceAppended{TraceID: id.FromStart(was[i]).Trace(0)}); again != is[i] ||
			nodes[i].Old != was[i] || nodes[i].New != is[i] {
			t.Fatalf("node %d, %s, became %s, then %s; the mapping has %+v", i, was[i], is[i], again, nodes[i])
		}
	}
	if got := len(r.Mapping().Nodes); got != many {
		t.Errorf("%d nodes", got)
	}
}
