package replay

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/wire"
)

// source is what a replay has of its source: the segments up to the head that it names, and their run events.
type source struct {
	inputs []manifest.Segment
	events []openwop.RunEvent
}

// readSource reads the source. missing: it is gone, damaged, or another history than was forked.
func (d *drive) readSource(ctx context.Context) (out source, missing bool, err error) {
	look := lookups{ctx, d.e}
	v, err := d.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(d.from.SessionID)},
		func(manifest.Head) ports.Visitor {
			out = source{}
			log := wire.New(d.from.RunID)
			return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
				events, err := log.Visit(seg, look)
				if err != nil {
					return err
				}
				out.inputs, out.events = append(out.inputs, seg), append(out.events, events...)
				if head.Digest == d.from.Head {
					return session.ErrStopReading
				}
				return nil
			})
		})
	switch {
	case errors.Is(err, session.ErrStopReading):
		return out, false, nil
	case err == nil && !v.Damaged(), fault.Is(err, fault.SessionUnhealthy):
		return source{}, true, nil
	case err == nil: // damaged before the head: what is before the damage is replayed
		return out, true, nil
	}
	return out, false, err
}

// input decides one segment of the source again. lost: its input is not known any more.
func (d *drive) input(ctx context.Context, in manifest.Segment, want []openwop.RunEvent) (lost bool, err error) {
	d.lastAtMs = in.Events[0].TimestampMs
	plan, lost, err := d.plan(ctx, in)
	switch code := fault.CodeOf(err); {
	case lost || code == fault.ArtifactErased:
		return true, nil
	case refusals[code]:
		return false, d.refused(ctx, want)
	case err != nil:
		return false, err
	case len(plan.Events) == 0:
		return false, nil
	}
	got, err := d.log.Visit(manifest.Segment{Events: plan.Events, First: plan.Events[0].Index,
		Last: plan.Events[len(plan.Events)-1].Index}, planned{lookups{ctx, d.e}, plan})
	if err != nil {
		return false, err
	}
	point, differs := difference(want, got, d.events)
	if first := plan.Events[0].Index == 0; differs && !d.noted[event.ReplayDiverged] && first {
		// What is recorded about the difference follows the events that begin the session.
		defer func() {
			if err == nil {
				err = d.depart(ctx, event.ReplayDiverged, point)
			}
		}()
	} else if differs && !d.noted[event.ReplayDiverged] {
		if err := d.depart(ctx, event.ReplayDiverged, point); err != nil {
			return false, err
		}
		plan, _, err = d.plan(ctx, in) // with the indexes behind that record
		if err != nil {
			return false, err
		}
	}
	d.events += len(got)
	if err := d.append(ctx, plan); err != nil {
		return false, err
	}
	d.pair(in, plan)
	return false, nil
}

// refusals are the codes of inputs that the engine refuses now; any other error is one of reading.
var refusals = map[fault.Code]bool{fault.ValidationError: true, fault.RunClosed: true, fault.RunWaiting: true,
	fault.DecisionRefused: true, fault.PrincipalsUnbound: true, fault.Invariant: true, fault.TokenUnknownNode: true,
	fault.RunNotFound: true, fault.RunPaused: true}

// refused records that an input of the source gives no event now.
func (d *drive) refused(ctx context.Context, want []openwop.RunEvent) error {
	if d.noted[event.ReplayDiverged] || d.events >= len(want) {
		return nil
	}
	return d.depart(ctx, event.ReplayDiverged, event.ReplayPoint{Kind: event.DiffersMissing, Sequence: int64(d.events),
		OriginalEventID: want[d.events].EventID})
}

// difference returns the first run event that is not the source's: of another type, node or payload. got begins at a
// sequence.
func difference(want, got []openwop.RunEvent, at int) (p event.ReplayPoint, differs bool) {
	for i, g := range got {
		p.Sequence = int64(at + i)
		if at+i >= len(want) {
			p.Kind = event.DiffersExtra
			return p, true
		}
		w := want[at+i]
		p.OriginalEventID = w.EventID
		switch {
		case w.Type != g.Type:
			p.Kind = event.DiffersInType
			return p, true
		case w.NodeID != g.NodeID || !w.Payload.Equal(g.Payload):
			p.Kind = event.DiffersInOutput
			return p, true
		}
	}
	return p, false
}

// depart records where the replay departs from its source.
func (d *drive) depart(ctx context.Context, why event.DivergenceReason, p event.ReplayPoint) error {
	run := d.h.Fold.Runs[d.at.Run]
	d.noted[why] = true
	return d.append(ctx, advance.Depart(advance.DepartFacts{Session: d.at.Session, Run: d.at.Run, Root: run.Root, Node: run.Tip,
		Next: d.h.Fold.Next, Source: d.from.RunID}, advance.Departure{Reason: why, Point: p, AtMs: d.lastAtMs}))
}

// finish ends a replay that its inputs did not end: as failed, for lack of an input.
func (d *drive) finish(ctx context.Context, s source, missing bool) error {
	if d.log.Ended() {
		return nil
	}
	point := event.ReplayPoint{Sequence: int64(d.events)}
	if d.events < len(s.events) {
		point.OriginalEventID = s.events[d.events].EventID
		if missed := point; !d.noted[event.ReplayDiverged] && !missing {
			missed.Kind = event.DiffersMissing
			if err := d.depart(ctx, event.ReplayDiverged, missed); err != nil {
				return err
			}
		}
	}
	run := d.h.Fold.Runs[d.at.Run]
	if run == nil {
		return d.otherLog()
	}
	if !d.noted[event.ReplaySourceMissing] {
		if err := d.depart(ctx, event.ReplaySourceMissing, point); err != nil {
			return err
		}
	}
	facts := engine.EndingOf(session.Resolved{At: d.at, Fold: d.h.Fold, Run: run})
	plan, err := advance.Cancel(facts, advance.Cancellation{Reason: "The source has no recorded input for what follows.",
		Outcome: event.OutcomeFailed, Close: true, Actor: d.by, AtMs: d.lastAtMs})
	if err != nil {
		return err
	}
	return d.append(ctx, plan)
}

// planned are lookups that also have the objects of a plan, which are not stored yet.
type planned struct {
	lookups
	plan manifest.Plan
}

// State implements wire.Lookups.
func (p planned) State(ref canon.Digest) (wire.State, error) {
	for _, o := range p.plan.Objects {
		if o.Kind == manifest.Snapshot && o.Ref() == ref {
			s, err := decoded(o.Bytes)
			return wire.State{View: s.View(), Known: &s}, err
		}
	}
	return p.lookups.State(ref)
}

// pair notes which nodes of the replay are those of the source.
func (d *drive) pair(in manifest.Segment, plan manifest.Plan) {
	made := func(events []event.Event) (out []event.Event) {
		for _, e := range events {
			if _, ok := e.Data.(event.NodeCreated); ok {
				out = append(out, e)
			}
		}
		return out
	}
	was, is := made(in.Events), made(plan.Events)
	for i := range min(len(was), len(is)) {
		d.nodes[was[i].Scope.NodeID] = is[i].Scope.NodeID
	}
}

// plan decides the input of a segment at the place that the replay has for it. A plan without events is that of a segment
// without an input of the run, or at a node that the replay does not have.
func (d *drive) plan(ctx context.Context, in manifest.Segment) (plan manifest.Plan, lost bool, err error) {
	decide, ok := plans[redrive.OperationOf(in.Events)]
	if of := in.Events[len(in.Events)-1].Scope.RunID; !ok || of != d.from.RunID && !of.IsZero() {
		return plan, false, nil
	}
	return decide(d, ctx, in)
}
