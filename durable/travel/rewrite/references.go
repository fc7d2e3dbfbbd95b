package rewrite

import (
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// references replaces the ids by which events refer to other events, outputs and gaps. A nil
// function keeps the ids.
type references struct {
	event  func(id.Event) id.Event
	output func(id.Output) id.Output
	gap    func(id.Gap) id.Gap
}

// in returns the payload with its references replaced. Kinds that are not listed have none.
func (r references) in(data event.Payload) event.Payload {
	switch p := data.(type) {
	case event.EdgeCreated:
		p.Cause.EventID = *replaced(&p.Cause.EventID, r.event)
		return p
	case event.NodeOutputAppended:
		p.SupersedesOutputID = replaced(p.SupersedesOutputID, r.output)
		return p
	case event.GapRecorded:
		p.Resolution.ResolvesGapID = replaced(p.Resolution.ResolvesGapID, r.gap)
		p.EvidenceRefs = slices.Clone(p.EvidenceRefs)
		for i := range p.EvidenceRefs {
			ref := &p.EvidenceRefs[i]
			ref.OutputID = replaced(ref.OutputID, r.output)
			ref.EventID = replaced(ref.EventID, r.event)
		}
		return p
	}
	return data
}

// replaced is f for an optional id; f may be nil.
func replaced[T any](old *T, f func(T) T) *T {
	if old == nil || f == nil {
		return old
	}
	newID := f(*old)
	return &newID
}

// retaining returns a function that retains ids and returns them unchanged.
func retaining[T idType[T]](b idMap[T]) func(T) T {
	return func(old T) T {
		b.retain(old)
		return old
	}
}

// CollectReferences collects the references of a segment to ids outside of it: causes and evidence,
// resolved gaps, superseded outputs, and repeated attempts. All segments, and then all lines
// of side logs, must be passed before the first is renamed; ids without a collected reference
// are dropped with their segment.
func (r *Renaming) CollectReferences(events []event.Event) {
	// References within a segment need nothing retained.
	inside := make(map[id.Event]struct{}, len(events))
	for _, e := range events {
		inside[e.ID] = struct{}{}
	}
	collect := references{output: retaining(r.outputs), gap: retaining(r.gaps), event: func(e id.Event) id.Event {
		if _, ok := inside[e]; !ok {
			r.events.retain(e)
		}
		return e
	}}
	for _, e := range events {
		if p, ok := e.Data.(event.AdvanceRecorded); ok {
			r.collectAttempt(p.AttemptID)
		}
		collect.in(e.Data)
	}
}

// attemptMark is a prefix of an attempt id, to save memory. Two ids with the same prefix are
// both retained, which costs memory only.
type attemptMark [8]byte

// collectAttempt retains attempts that are recorded twice: the second record gets the new id
// of the first.
func (r *Renaming) collectAttempt(a id.Attempt) {
	raw := a.Raw()
	mark := attemptMark(raw[:8])
	if _, ok := r.seen[mark]; ok {
		r.attempts.retain(a)
	}
	r.seen[mark] = struct{}{}
}

// CollectLineReferences collects the references of a line of a side log: any string in it that is an id
// may be one of the session's. An error means that the line is not an event.
func (r *Renaming) CollectLineReferences(line []byte) error {
	v, err := lineOf(line)
	if err != nil {
		return err
	}
	rewriteLine(v, r.collecting)
	return nil
}

// reportUncollected records an id that is referred to and was not collected: its new id may
// have been dropped, and a second new id would break the reference. The first one becomes the
// error of Segment or OpaqueLine.
func (r *Renaming) reportUncollected(old string) {
	if r.uncollected == nil {
		r.uncollected = fault.New(
			fault.Invariant,
			"%s is referenced, but the first pass over the log did not find the reference",
			old,
		)
	}
}
