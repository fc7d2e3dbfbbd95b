package rewrite

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

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
	cause := func(e id.Event) {
		if _, ok := inside[e]; !ok {
			r.events.retain(e)
		}
	}
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.AdvanceRecorded:
			r.collectAttempt(p.AttemptID)
		case event.EdgeCreated:
			cause(p.Cause.EventID)
		case event.NodeOutputAppended:
			if p.SupersedesOutputID != nil {
				r.outputs.retain(*p.SupersedesOutputID)
			}
		case event.GapRecorded:
			if p.Resolution.ResolvesGapID != nil {
				r.gaps.retain(*p.Resolution.ResolvesGapID)
			}
			for _, ref := range p.EvidenceRefs {
				if ref.OutputID != nil {
					r.outputs.retain(*ref.OutputID)
				}
				if ref.EventID != nil {
					cause(*ref.EventID)
				}
			}
		}
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
	rewriteLine(v, r.collectText)
	return nil
}

// collectText retains a string that is an id; it returns s, as rewriteLine requires.
func (r *Renaming) collectText(s string) string {
	switch prefixOf(s) {
	case "evt":
		retainAs(r.events, s)
	case "attempt":
		retainAs(r.attempts, s)
	case "out":
		retainAs(r.outputs, s)
	case "gap":
		retainAs(r.gaps, s)
	}
	return s
}

// retainAs retains s if it is an id of type T.
func retainAs[T idType[T], P parsable[T]](b idMap[T], s string) {
	var old T
	if P(&old).UnmarshalText([]byte(s)) == nil {
		b.retain(old)
	}
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
