package bundle

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Separators of an array's elements in canonical JSON.
var (
	opening = []byte{'['}
	comma   = []byte{','}
	closing = []byte{']'}
)

// list reads the elements of a list and hashes them as the canonical JSON of the array.
// around is the number of containers around the list; visit is called for each element.
func (o *opener) list(l *list, around int, w *canon.Watch, visit func(p element)) {
	l.start, l.owner = o.at(), o.b.env.SessionID
	l.depth = limits.JSONDepthMax - around - 1
	h := sha256.New()
	// The digest is that of the canonical array, independent of white space in the file.
	h.Write(opening)
	o.array(func(i int64) {
		p := o.element(lineMax, l.depth, w)
		if o.err != nil {
			return
		}
		if i > 0 {
			h.Write(comma)
		}
		h.Write(p.line)
		l.value.bytes += int64(len(p.line)) + 1
		visit(p)
		l.count++
	})
	h.Write(closing)
	h.Sum(l.value.sum[:0])
	l.value.bytes = max(2, l.value.bytes+1) // one comma less than elements, and two brackets
	l.value.found = true
}

// events reads the events of a log. References to objects are collected from the session's
// own events only; the payloads of side logs are opaque here.
func (o *opener) events(l *list, around int) {
	ordered, own := true, l == &o.b.own.events
	// Only the first error about the order is kept: the following ones are its consequences.
	o.list(l, around, eventWatch, func(p element) {
		if ordered {
			if wrong := l.event(&o.parts); wrong != "" {
				ordered = false
				o.deferError(eventOrder, o.pointer(), p.at, "%s", wrong)
			}
		}
		if own {
			o.collectReferences(p)
		}
	})
}

// collectReferences notes the objects that an event refers to, also an event of another
// program.
func (o *opener) collectReferences(p element) {
	sp := &o.parts
	switch {
	// A node needs its snapshot, and its workflow.
	case sp.is(kindSlot, "node_created"):
		o.reference(o.b.snapshots, missingSnapshot, refSlot, p, 0)
		o.reference(o.b.workflows, missingWorkflow, workflowSlot, p, 0)
	// A run needs its workflow, also if no node of it exists.
	case sp.is(kindSlot, "run_started"):
		o.reference(o.b.workflows, missingWorkflow, workflowSlot, p, 0)
	case sp.is(kindSlot, "node_output_appended") && sp.is(payloadKindSlot, "artifact_ref"):
		o.reference(o.b.artifacts, missingArtifact, payloadRefSlot, p, 0)
	}
}

// reference notes that the element p refers to an object. Members that are not strings are
// ignored here; the reader of events refuses them.
func (o *opener) reference(t *table, why reason, at uint8, p element, by mark) {
	text, ok := o.parts.string(at)
	if !ok {
		return
	}
	// Digests in another form are never the name of an embedded object.
	ref, ok := parseReference(text)
	if !ok {
		o.deferError(why, o.pointer(), p.at, "%s is referenced and not a digest",
			brief(o.parts.Raw(at)))
		return
	}
	r, _ := t.get(ref)
	// The first reference is kept, for the message about a missing object.
	// at and raw describe the value once it is embedded.
	if !r.is(embedded | needed) {
		r.at, r.raw = uint32(p.at), uint32(o.path[len(o.path)-1].item)
		r.marks |= by
	}
	r.marks |= needed
}

// records reads the manifest records of a log and collects the snapshots that its own log's
// records pin.
func (o *opener) records(l *list, around int) {
	ordered, own := true, l == &o.b.own.records
	o.list(l, around, recordWatch, func(p element) {
		if ordered {
			if wrong := l.record(&o.parts); wrong != "" {
				ordered = false
				o.deferError(manifestOrder, o.pointer(), p.at, "%s", wrong)
			}
		}
		if own {
			o.reference(o.b.snapshots, missingSnapshot, refSlot, p, byRecord)
		}
	})
}
