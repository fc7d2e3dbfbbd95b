package advance

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/host"
)

// runEvents records the run events that the result of a host step lists (docs/design.md#recorded-run-events). What is no
// result has none: it blocks.
func (d *attempt) runEvents() {
	for _, a := range d.a.Request.Artifacts {
		if a.Kind() != host.Kind {
			continue
		}
		r, err := host.Decode(a.JSON)
		if err != nil {
			continue
		}
		for _, e := range r.Events {
			if p := (event.RunEventRecorded{Number: d.seg.next, Type: e.Type, Payload: e.Payload}); p.Check(d.at) == nil {
				d.seg.engine(d.at, p)
			}
		}
	}
}

// NoteRunEvent plans the record of a run event that is no part of an attempt. at is the node, next the index of the next
// event of the log.
func NoteRunEvent(s id.Session, at event.Scope, next int64, e event.RunEventRecorded, by event.Actor, atMs int64) manifest.Plan {
	seg := newSegment(s, next, atMs, by)
	e.Number = next
	seg.caller(at, e)
	return seg.plan
}
