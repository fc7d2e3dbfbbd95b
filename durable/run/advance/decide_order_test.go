package advance_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
)

// TestApprovalsOfBothOrders: an approval and its decision are made again in the order in which they were
// recorded, which versions before did by digest.
func TestApprovalsOfBothOrders(t *testing.T) {
	for _, first := range []bool{false, true} {
		d := newDesk(t, "")
		d.wantBlocked("", notes("plan A"))
		made := advance.Decision{Word: event.Approved, Reason: "Looked at it", Who: ada, AtMs: d.now,
			Actor: event.Actor{Kind: event.Human, Ref: "a label"}, DecisionFirst: first}
		plan, err := advance.DecideStep(d.w, d.f, made)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, e := range plan.Events {
			if p, ok := e.Data.(event.NodeOutputAppended); ok {
				kinds = append(kinds, p.Payload.ArtifactKind)
			}
		}
		want := map[bool]string{false: "[wr.human_approval wr.human_decision]", true: "[wr.human_decision wr.human_approval]"}[first]
		if fmt.Sprint(kinds) != want {
			t.Fatalf("%v, want %s", kinds, want)
		}
		stored := func(ref canon.Digest) ([]byte, error) {
			for _, o := range plan.Objects {
				if canon.Sum(o.Bytes) == ref {
					return o.Bytes, nil
				}
			}
			return nil, fmt.Errorf("no object %s", ref)
		}
		recorded, err := redrive.DecisionOf(plan.Events, stored)
		if err != nil {
			t.Fatal(err)
		}
		again, err := advance.DecideStep(d.w, d.f, recorded)
		if err != nil || !reflect.DeepEqual(again.Events, plan.Events) {
			t.Errorf("decided again: %v\n%+v\n%+v", err, again.Events, plan.Events)
		}
	}
}
