package verify

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// handOver counts the hand-overs of the session again. Store and name are inputs.
func (a *replay) handOver(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	p, _ := seg.Events[0].Data.(event.SessionHandedOver)
	return a.handOverOf(seg, a.fold.HandOvers+1).To(p.FromStoreID, p.To), false, nil
}

// reclaim ends the hand-over of the segment before. Another event in between leaves none to end, which is a difference.
func (a *replay) reclaim(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	if a.fold.HandedOver == nil {
		return manifest.Plan{}, false, nil
	}
	return a.handOverOf(seg, a.fold.HandOvers).Reclaim(), false, nil
}

// handOverOf is the n-th hand-over with the recorded inputs of a segment.
func (a *replay) handOverOf(seg manifest.Segment, n int64) advance.HandOver {
	e := seg.Events[0]
	return advance.HandOver{Session: a.session, Next: a.fold.Next, N: n, Actor: e.Actor, AtMs: e.TimestampMs}
}
