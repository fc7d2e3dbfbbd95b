package bundle

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/limits"
)

// What joins the elements of an array in JCS.
var (
	opening = []byte{'['}
	comma   = []byte{','}
	closing = []byte{']'}
)

// list reads the elements of l, which containers enclose: they are hashed as the
// JCS of the array, and look judges each.
func (o *opener) list(l *list, around int, w *watch, look func(i int64, p piece)) error {
	l.start, l.owner = o.at(), o.b.env.SessionID
	l.depth = limits.JSONDepthMax - around - 1
	h := sha256.New()
	h.Write(opening)
	err := o.array(func(i int64) error {
		p, err := o.element(lineMax, l.depth, w)
		if err != nil {
			return err
		}
		if i > 0 {
			h.Write(comma)
		}
		h.Write(p.line)
		l.value.bytes += int64(len(p.line)) + 1
		look(i, p)
		l.count++
		return nil
	})
	h.Write(closing)
	h.Sum(l.value.sum[:0])
	l.value.bytes = max(2, l.value.bytes+1) // a comma less than elements, and two brackets
	l.value.found = true
	return err
}

// events reads the events of a log. Those of the session's own name objects; what a
// side log's events say is not known here.
func (o *opener) events(l *list, around int) error {
	ordered, own := true, l == &o.b.own.events
	return o.list(l, around, eventWatch, func(i int64, p piece) {
		if ordered {
			if wrong := l.event(&o.spell); wrong != "" {
				ordered = false
				o.wait(eventOrder, o.pointer(), p.at, "%s", wrong)
			}
		}
		if own {
			o.named(p)
		}
	})
}

// named notes the objects that an event of ours or of another program needs.
func (o *opener) named(p piece) {
	sp := &o.spell
	switch {
	case sp.is(kindSlot, "node_created"):
		o.need(o.b.snapshots, missingSnapshot, refSlot, p, 0)
		o.need(o.b.workflows, missingWorkflow, workflowSlot, p, 0)
	case sp.is(kindSlot, "run_started"):
		o.need(o.b.workflows, missingWorkflow, workflowSlot, p, 0)
	case sp.is(kindSlot, "node_output_appended") && sp.is(payloadKindSlot, "artifact_ref"):
		o.need(o.b.artifacts, missingArtifact, payloadRefSlot, p, 0)
	}
}

// need notes that the element p names an object. A member that is no text says
// nothing; whether it may, is for those who read events.
func (o *opener) need(t *table, why reason, at slot, p piece, by mark) {
	text, ok := o.spell.string(at)
	if !ok {
		return
	}
	ref, ok := parseReference(text)
	if !ok {
		o.wait(why, o.pointer(), p.at, "%s is named and is no digest, so nothing can be embedded for it,",
			brief(o.spell.raw(at)))
		return
	}
	r, _ := t.get(ref)
	if !r.is(embedded | needed) {
		r.at, r.raw = uint32(p.at), uint32(o.path[len(o.path)-1].item)
		r.marks |= by
	}
	r.marks |= needed
}

// records reads the manifest records of a log.
func (o *opener) records(l *list, around int) error {
	ordered, own := true, l == &o.b.own.records
	return o.list(l, around, recordWatch, func(i int64, p piece) {
		if ordered {
			if wrong := l.record(&o.spell); wrong != "" {
				ordered = false
				o.wait(manifestOrder, o.pointer(), p.at, "%s", wrong)
			}
		}
		if own {
			o.need(o.b.snapshots, missingSnapshot, refSlot, p, byRecord)
		}
	})
}
