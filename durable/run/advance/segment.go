package advance

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// segment collects the events of one plan in their order and numbers them.
type segment struct {
	plan  manifest.Plan
	owner string
	next  int64
	atMs  int64
	actor event.Actor // of what the caller caused
}

func newSegment(s id.Session, next, atMs int64, actor event.Actor) *segment {
	log := manifest.SessionEvents(s)
	return &segment{plan: manifest.Plan{Log: log}, owner: log.Owner, next: next, atMs: atMs, actor: actor}
}

// caller appends what the caller said; engine appends what follows from it.
func (s *segment) caller(sc event.Scope, p event.Payload) event.Event {
	return s.add(sc, s.actor, p)
}

func (s *segment) engine(sc event.Scope, p event.Payload) event.Event {
	return s.add(sc, event.Actor{Kind: event.Engine}, p)
}

func (s *segment) add(sc event.Scope, a event.Actor, p event.Payload) event.Event {
	e := event.New(s.owner, s.next, sc, a, s.atMs, p)
	s.plan.Events = append(s.plan.Events, e)
	s.next++
	return e
}

func (s *segment) object(kind manifest.ObjectKind, bytes []byte) manifest.Object {
	o := manifest.Object{Kind: kind, Bytes: bytes}
	s.plan.Objects = append(s.plan.Objects, o)
	return o
}
