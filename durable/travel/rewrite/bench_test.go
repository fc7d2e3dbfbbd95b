package rewrite_test

import (
	"runtime"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/rewrite"
)

// BenchmarkAMillionEvents renames a log of 200,000 advances and reports the memory per event
// that the renaming holds at the end.
func BenchmarkAMillionEvents(b *testing.B) {
	session, run := id.NewSession(id.Seed{1}), id.NewRun(id.Seed{1})
	to := id.NewSession(id.Seed{2})
	for b.Loop() {
		r := rewrite.NewRenaming(session, to, store, canon.Sum(nil))
		chain := rewrite.NewChain(manifest.SessionEvents(to))
		at, next := id.RootNode(run), int64(0)
		add := func(out *[]event.Event, node id.Node, p event.Payload) event.Event {
			e := event.New(session.String(), next, event.Scope{RunID: run, NodeID: node},
				event.Actor{Kind: event.Agent}, 1, p)
			if _, ok := p.(event.EdgeCreated); ok {
				e = event.New(session.String(), next, event.Scope{RunID: run}, event.Actor{Kind: event.Agent}, 1, p)
			}
			next++
			*out = append(*out, e)
			return e
		}
		for next < 1_000_000 {
			attempt := id.NextAttempt(at, id.OpAck, 0)
			to := id.ChildNode(at, attempt, id.OpAck)
			origin := id.FromAttempt(attempt, id.OpAck)
			var seg []event.Event
			first := add(&seg, at, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
				Outcome: event.AdvancedTo(to)})
			add(&seg, at, event.DecisionTraceAppended{TraceID: origin.Trace(0),
				Entries: []event.TraceEntry{{Kind: event.SelectedNextStep, Summary: "s"}}})
			add(&seg, to, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &at, SnapshotRef: canon.Sum(nil),
				WorkflowHash: canon.Sum(nil)})
			add(&seg, at, event.EdgeCreated{Cause: event.Cause{EventID: first.ID, Kind: event.IntentionalFork},
				EdgeKind: event.AckedStepEdge, FromNodeID: at, ToNodeID: to})
			add(&seg, at, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
				Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "n"}})
			out, err := r.Segment(seg)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := chain.Next(out); err != nil {
				b.Fatal(err)
			}
			at = to
		}
		b.StopTimer()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-held")
		runtime.KeepAlive(r)
		b.StartTimer()
	}
}
