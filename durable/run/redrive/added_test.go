package redrive_test

import (
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/redrive"
)

// TestCompareWithEarlier: what a version before did not record is no difference; another value of it, and a record of
// it that is not decided any more, are.
func TestCompareWithEarlier(t *testing.T) {
	loop := reason.LoopFact{LoopID: "l", Iteration: 2, MaxIterations: 2}
	seen, other := id.FromStart(root.NodeID).Output(0), id.FromStart(root.NodeID).Output(1)
	at := reason.WorkflowStep("l")
	gap := func(l reason.LoopFact, evidence ...id.Output) event.Payload {
		g := event.GapRecorded{GapID: id.FromStart(root.NodeID).Gap(0), Loop: l, Pointer: &at, Reason: reason.InvariantBroken,
			Severity: event.Critical, Summary: "s", Resolution: event.Resolution{Kind: event.Unresolved}}
		for _, o := range evidence {
			g.EvidenceRefs = append(g.EvidenceRefs, event.EvidenceRef{Kind: "output", OutputID: &o})
		}
		return g
	}
	blocked := func(l reason.LoopFact) event.Payload {
		u := reason.Unmet{Code: reason.InvariantBroken, Pointer: at, Message: "m", Loop: l}
		return event.AdvanceRecorded{AttemptID: id.NextAttempt(root.NodeID, id.OpAck, 0), Intent: event.IntentAckPending,
			Outcome: event.BlockedBy(reason.ReportOf([]reason.Unmet{u}))}
	}
	longer := loop
	longer.Iteration++
	for _, row := range []struct {
		name     string
		was, now event.Payload
		pointer  string
	}{
		{"a gap without both", gap(reason.LoopFact{}), gap(loop, seen), ""},
		{"a gap with another loop", gap(loop), gap(longer, seen), "/data/loop/iteration"},
		{"a gap with other evidence", gap(reason.LoopFact{}, seen), gap(loop, other), "/data/evidenceRefs/0/outputId"},
		{"a gap that had more", gap(loop, seen), gap(reason.LoopFact{}, seen), "/data/loop"},
		{"a blocker without", blocked(reason.LoopFact{}), blocked(loop), ""},
		{"a blocker with another", blocked(loop), blocked(longer), "/data/outcome/blockers/blockers/0/loop/iteration"},
		{"a blocker that had it", blocked(loop), blocked(reason.LoopFact{}), "/data/outcome/blockers/blockers/0/loop"},
	} {
		p := plan(row.was)
		seg, err := manifest.EncodeSegment(log, p.Events)
		if err != nil {
			t.Fatal(err)
		}
		d := redrive.Compare(seg, plan(row.now))
		if d == nil != (row.pointer == "") || d != nil && d.Pointer != row.pointer {
			t.Errorf("%s: %+v", row.name, d)
		}
	}
}
