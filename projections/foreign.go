package projections

import (
	"github.com/waybill/waybill/durable/log/event"
)

// sighted is an event as it is folded: of one that this version cannot write, what is
// known of its data stands in the place of the data (R14). A log with such an event is
// of unknown version, and nobody goes on from a fold of it; one that is ignorable is
// passed over as it says, since its log may be healthy.
func sighted(e event.Event) (event.Event, event.Glimpse) {
	if e.Ignorable {
		return e, event.Glimpse{}
	}
	g, ok := event.Domain.Glimpse(e)
	if ok && g.Known != nil {
		e.Data = g.Known
	}
	return e, g
}
