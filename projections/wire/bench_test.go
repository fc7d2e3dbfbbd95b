package wire_test

import (
	"runtime"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/wire"
)

// BenchmarkAdvances projects segments of one advance with notes each, and reports the memory that the projection
// holds at the end.
func BenchmarkAdvances(b *testing.B) {
	const advances = 20_000
	for b.Loop() {
		f, at, start := newForged()
		l := wire.New(f.run)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if _, err := l.Visit(start, stepOf("a")); err != nil {
			b.Fatal(err)
		}
		events := 0
		for range advances {
			attempt := id.NextAttempt(at, id.OpAck, 0)
			to, origin := id.ChildNode(at, attempt, id.OpAck), id.FromAttempt(attempt, id.OpAck)
			got, err := l.Visit(f.segment(f.of(at, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending, Outcome: event.AdvancedTo(to)}),
				f.of(to, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &at, SnapshotRef: canon.Sum(nil), WorkflowHash: canon.Sum(nil)}),
				f.of(at, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
					Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "done"}})), stepOf("a"))
			if err != nil {
				b.Fatal(err)
			}
			at, events = to, events+len(got)
		}
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc))/advances, "B-held/advance")
		b.ReportMetric(float64(events), "run-events")
		runtime.KeepAlive(l)
		b.StartTimer()
	}
}
