package advance

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// HandOver is a hand-over of a session to another store, or its end (docs/design.md#home).
type HandOver struct {
	Session id.Session
	Next    int64 // index of the next event
	N       int64 // of the hand-over, from 1
	Actor   event.Actor
	AtMs    int64 // clock reading in milliseconds since 1970
}

// To plans the event of a hand-over from a store; to is a name, or "".
func (h HandOver) To(from id.Store, to string) manifest.Plan {
	return h.plan(event.SessionHandedOver{FromStoreID: from, N: h.N, To: to})
}

// Reclaim plans the end of the hand-over.
func (h HandOver) Reclaim() manifest.Plan { return h.plan(event.SessionReclaimed{N: h.N}) }

func (h HandOver) plan(data event.Payload) manifest.Plan {
	return manifest.Plan{Log: manifest.SessionEvents(h.Session),
		Events: []event.Event{event.New(h.Session.String(), h.Next, event.Scope{}, h.Actor, h.AtMs, data)}}
}
