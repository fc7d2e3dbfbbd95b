package advance

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Departure is where a replay departs from its source.
type Departure struct {
	Reason event.DivergenceReason
	Point  event.ReplayPoint
	AtMs   int64 // clock reading in milliseconds since 1970
}

// DepartFacts are the recorded facts on which the record of a departure depends. Root is the root of the run, Node its
// preferred tip.
type DepartFacts struct {
	Session    id.Session
	Run        id.Run
	Root, Node id.Node
	Next       int64 // index of the next event
	Source     id.Run
}

// Depart plans the record of where a replay departs from its source (docs/design.md#openwop-forks). It is a segment of
// its own, before the events that differ.
func Depart(f DepartFacts, d Departure) manifest.Plan {
	seg := newSegment(f.Session, f.Next, d.AtMs, engine)
	what := fmt.Sprintf("Run event %d is not that of run %s (%s).", d.Point.Sequence, f.Source, d.Point.Kind)
	nth := 0
	if d.Reason == event.ReplaySourceMissing {
		what, nth = fmt.Sprintf("Run %s has no recorded input for what follows at run event %d.", f.Source, d.Point.Sequence), 1
	}
	seg.engine(event.Scope{RunID: f.Run, NodeID: f.Node}, event.DivergenceRecorded{Reason: d.Reason, Replay: &d.Point,
		DivergenceID: id.FromStart(f.Root).Divergence(nth), Summary: what})
	return seg.plan
}
