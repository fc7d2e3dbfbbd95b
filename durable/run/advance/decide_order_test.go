package advance_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/redrive"
)

// TestApprovalsOfBothOrders: an approval and its decision are recorded in the order of their digests, and
// made again in the order in which they were recorded.
func TestApprovalsOfBothOrders(t *testing.T) {
	yes, no := true, false
	for _, first := range []*bool{nil, &no, &yes} {
		d := newDesk(t, "")
		d.wantBlocked("", notes("plan A"))
		made := advance.Decision{Word: event.Approved, Reason: "Looked at it", Who: ada, AtMs: d.now,
			Actor: event.Actor{Kind: event.Human, Ref: "a label"}, DecisionFirst: first}
		plan, err := advance.DecideStep(d.w, d.f, made)
		if err != nil {
			t.Fatal(err)
		}
		var kinds, digests []string
		for _, e := range plan.Events {
			if p, ok := e.Data.(event.NodeOutputAppended); ok {
				kinds, digests = append(kinds, p.Payload.ArtifactKind), append(digests, p.Payload.SHA256.String())
			}
		}
		switch {
		case first == nil && !slices.IsSorted(digests):
			t.Fatalf("%v, want them sorted", digests)
		case first != nil && slices.Index(kinds, decision.Kind) != map[bool]int{true: 0, false: 1}[*first]:
			t.Fatalf("%v, want the decision first: %t", kinds, *first)
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
