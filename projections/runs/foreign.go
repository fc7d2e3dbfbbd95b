package runs

import (
	"github.com/waybill/waybill/durable/log/event"
)

// readForeign returns the event in the form that is folded. If this version cannot write the event,
// its data is replaced by the known part of it (docs/design.md#foreign-stores), which is returned
// too. A log with such an event has an unknown version and is never written to, so no plan is based
// on such a fold. Ignorable events are not interpreted: their log may be healthy, and the fold must
// be the same in a version that does not know them.
func readForeign(e event.Event) (event.Event, event.ForeignView) {
	if e.Ignorable {
		return e, event.ForeignView{}
	}
	g, ok := event.Domain.ViewForeign(e)
	if ok && g.Known != nil {
		e.Data = g.Known
	}
	return e, g
}
