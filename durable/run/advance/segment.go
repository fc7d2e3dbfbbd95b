package advance

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// segment collects the events and objects of one plan and numbers the events.
type segment struct {
	// plan is returned by the operation; the append commits it as one segment.
	plan  manifest.Plan
	owner string
	// next is the index of the next event, atMs the time of all events of the plan.
	next  int64
	atMs  int64
	actor event.Actor // actor of the caller's events
}

// engine is the actor of events that follow from the caller's.
var engine = event.Actor{Kind: event.Engine}

// newSegment begins a plan for a session's log; next is the index of its first event.
func newSegment(s id.Session, next, atMs int64, actor event.Actor) *segment {
	log := manifest.SessionEvents(s)
	return &segment{plan: manifest.Plan{Log: log}, owner: log.Owner, next: next, atMs: atMs, actor: actor}
}

// caller appends an event whose content the caller sent.
func (s *segment) caller(sc event.Scope, p event.Payload) event.Event {
	return s.add(sc, s.actor, p)
}

// engine appends an event that follows from the caller's.
//
//go:noinline
func (s *segment) engine(sc event.Scope, p event.Payload) event.Event {
	return s.add(sc, engine, p)
}

// add builds the event; its id and dedupeKey are derived from the payload.
func (s *segment) add(sc event.Scope, a event.Actor, p event.Payload) event.Event {
	e := event.New(s.owner, s.next, sc, a, s.atMs, p)
	s.plan.Events = append(s.plan.Events, e)
	s.next++
	return e
}

// object adds an object that the append stores before the events.
func (s *segment) object(kind manifest.ObjectKind, bytes []byte) manifest.Object {
	o := manifest.Object{Kind: kind, Bytes: bytes}
	s.plan.Objects = append(s.plan.Objects, o)
	return o
}
