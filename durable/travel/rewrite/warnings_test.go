package rewrite_test

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/travel/rewrite"
)

// TestRedactedWarnings: the values of loose matches are redacted like the context that they
// quote: by their form, and by the name of their variable. Warnings that become equal are one.
func TestRedactedWarnings(t *testing.T) {
	session := id.NewSession(id.Seed{1})
	run := id.NewRun(id.Seed{1})
	at := event.Scope{RunID: run, NodeID: id.RootNode(run)}
	warnings := []event.DecisionWarning{
		event.LooseMatch("risk", canon.OfString("High"), canon.OfString("high")),
		event.LooseMatch("login.password", canon.OfString("HUNTER2X9"), canon.OfString("hunter2x9")),
		event.LooseMatch("login.password", canon.OfString("Hunter2x9"), canon.OfString("hunter2x9 ")),
		event.LooseMatch("count", canon.OfInt(3), canon.OfString("3")),
	}
	events := []event.Event{
		event.New(session.String(), 0, event.Scope{RunID: run}, event.Actor{Kind: event.Agent}, 1, event.RunStarted{
			WorkflowID: "w", WorkflowHash: canon.Sum(nil), WorkflowSourceKind: event.SourceUser, Warnings: warnings}),
		event.New(session.String(), 1, at, event.Actor{Kind: event.Agent}, 1, event.AdvanceRecorded{
			AttemptID: id.NextAttempt(at.NodeID, id.OpAck, 0), Intent: event.IntentAckPending,
			Outcome: event.AdvancedTo(id.RootNode(run)), Warnings: warnings}),
	}
	redacted, err := rewrite.NewRedaction(nil).Segment(events)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range redacted {
		v, err := canon.ValueOf(e.Data)
		if err != nil || e.Data.Check(e.Scope) != nil {
			t.Fatal(err, e.Data.Check(e.Scope))
		}
		list, _ := v.Get("warnings")
		const want = `[{"code":"CONDITION_MATCHED_LOOSELY","expected":"High","got":"high","path":"risk"},` +
			`{"code":"CONDITION_MATCHED_LOOSELY","expected":"[REDACTED:named_secret]","got":"[REDACTED:named_secret]",` +
			`"path":"login.password"},{"code":"CONDITION_MATCHED_LOOSELY","expected":3,"got":"3","path":"count"}]`
		if got := string(list.JCS()); got != want {
			t.Errorf("event %d: %s", i, got)
		}
	}
}
