package wire

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports"
	projection "github.com/waybill/waybill/projections/wire"
)

// forkDepthMax bounds how many runs a run is forked from, one from the other, of which run events are read.
const forkDepthMax = 32

// inherit begins a projection with the run events that a fork has of its source, and returns them; none for any other run.
func (w *Wire) inherit(ctx context.Context, p Place, log *projection.Log, depth int) ([]openwop.RunEvent, error) {
	started, err := w.startOf(ctx, p)
	if err != nil || !started.Run.ForkedFrom.IsBranch() || started.Run.ForkedFrom.Sequence == 0 {
		return nil, err
	}
	from := *started.Run.ForkedFrom
	events, err := w.source(ctx, from, depth)
	if err != nil {
		return nil, err
	}
	for at := int64(len(events)); at < from.Sequence; at++ {
		events = append(events, lost(started, from, at))
	}
	for i, e := range events {
		events[i] = log.Inherit(p.Session, e)
	}
	return events, nil
}

// source returns the run events of the source of a fork before the sequence of the fork. Of a source that is gone, that
// cannot be read, or whose log is another history than the one that was forked, it returns none.
func (w *Wire) source(ctx context.Context, from event.ForkedFrom, depth int) (out []openwop.RunEvent, err error) {
	if depth >= forkDepthMax {
		return nil, nil
	}
	at := Place{Session: from.SessionID, Run: from.RunID}
	look, met := w.lookups(ctx), false
	_, err = w.s.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(at.Session)}, func(manifest.Head) ports.Visitor {
		log := projection.New(at.Run)
		before, wrong := w.inherit(ctx, at, log, depth+1)
		out, met = before[:min(len(before), int(from.Sequence))], false
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if wrong != nil {
				return wrong
			}
			if int64(len(out)) < from.Sequence {
				more, err := log.Visit(seg, look)
				if err != nil {
					return err
				}
				out = append(out, more[:min(len(more), int(from.Sequence)-len(out))]...)
			}
			if met = head.Digest == from.Head; met {
				return session.ErrStopReading
			}
			return nil
		})
	})
	switch {
	case errors.Is(err, session.ErrStopReading):
		return out, nil
	case err != nil && isLost(err), !met && err == nil:
		return nil, nil
	}
	return out, err
}

// isLost reports an error that stays: the source is damaged, or an object of it is gone.
func isLost(err error) bool {
	return fault.Is(err, fault.SessionUnhealthy) || fault.Is(err, fault.SessionNotFound) || fault.Is(err, fault.Invariant)
}

// begun is the start of a run as its log has it.
type begun struct {
	Run  event.RunStarted
	AtMs int64
}

// startOf reads the start of a run, the zero value without one.
func (w *Wire) startOf(ctx context.Context, p Place) (out begun, err error) {
	_, err = w.s.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(p.Session)},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				if s, ok := e.Data.(event.RunStarted); ok && e.Scope.RunID == p.Run {
					out = begun{s, e.TimestampMs}
					return session.ErrStopReading
				}
			}
			return nil
		}))
	if errors.Is(err, session.ErrStopReading) {
		err = nil
	}
	return out, err
}

// lost takes the place of a run event of a source that cannot be read any more, so that the log has no hole.
func lost(b begun, from event.ForkedFrom, at int64) openwop.RunEvent {
	e := openwop.RunEvent{EventID: id.EventOf(from.SessionID.String(), "lost:"+from.RunID.String()).String(), Sequence: at,
		Timestamp: event.TimeText(b.AtMs), Type: openwop.VendorType("source_missing"), Payload: canon.OfMembers()}
	if at == 0 {
		e.Type, e.Payload = openwop.RunStarted, canon.OfMembers(canon.Member{Name: "workflowId",
			Value: canon.OfString(b.Run.WorkflowID)})
	}
	return e
}

// Fork is a run event of a run as the place at which another run begins.
type Fork struct {
	Place
	Node id.Node
	// Complete reports that every step is done before the run event.
	Complete bool
	// Events is the number of run events so far; the sequence is one of them if it is smaller.
	Events int64
}

// ForkAt returns the node at which a run is before one of its run events: of the run that it was forked from, where it has
// the event from there.
func (w *Wire) ForkAt(ctx context.Context, p Place, sequence int64) (out Fork, err error) {
	f := w.FollowAt(p)
	if err := f.drain(ctx, func([]openwop.RunEvent) error { return nil }); err != nil {
		return out, err
	}
	if f.health != manifest.Healthy {
		return out, fault.New(fault.SessionUnhealthy, "the session of the run is %s", f.health)
	}
	out = Fork{Place: p, Events: f.log.Next()}
	for depth := 0; sequence < f.log.FirstOwn() && depth < forkDepthMax; depth++ {
		started, err := w.startOf(ctx, f.Place)
		if err != nil || started.Run.ForkedFrom == nil {
			return out, err
		}
		f = w.FollowAt(Place{Session: started.Run.ForkedFrom.SessionID, Run: started.Run.ForkedFrom.RunID})
		if err := f.drain(ctx, func([]openwop.RunEvent) error { return nil }); err != nil {
			return out, err
		}
		out.Place = f.Place
	}
	var ok bool
	if out.Node, out.Complete, ok = f.log.Place(sequence); !ok && sequence < out.Events {
		return out, fault.New(fault.RunNotFound, "the run that has run event %d cannot be read", sequence)
	}
	return out, nil
}
