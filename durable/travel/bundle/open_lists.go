package bundle

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Separators of an array's elements in canonical JSON.
var (
	opening = []byte{'['}
	comma   = []byte{','}
	closing = []byte{']'}
)

// list reads the elements of a list and hashes them as the canonical JSON of the array.
// around is the number of containers around the list; collect is called for each element, and may
// be nil.
func (o *opener) list(l *list, around int, h half, collect func(p element)) {
	ordered := true
	l.start, l.owner = o.at(), o.b.env.SessionID
	l.depth = limits.JSONDepthMax - around - 1
	sum := sha256.New()
	// The digest is that of the canonical array, independent of white space in the file.
	sum.Write(opening)
	o.array(func(i int64) {
		p := o.element(lineMax, l.depth, h.watch)
		if o.err != nil {
			return
		}
		if i > 0 {
			sum.Write(comma)
		}
		sum.Write(p.line)
		l.value.bytes += int64(len(p.line)) + 1
		// Only the first error about the order is kept: the following ones are its consequences.
		if ordered {
			if wrong := h.follows(l, &o.parts); wrong != "" {
				ordered = false
				o.deferError(h.order, o.pointer(), p.at, "%s", wrong)
			}
		}
		if collect != nil {
			collect(p)
		}
		l.count++
	})
	sum.Write(closing)
	sum.Sum(l.value.sum[:0])
	l.value.bytes = max(2, l.value.bytes+1) // one comma less than elements, and two brackets
	l.value.found = true
}

// collectReferences notes the objects that an event refers to, also an event of another
// program.
func (o *opener) collectReferences(p element) {
	sp := &o.parts
	switch {
	// A node needs its snapshot, and its workflow.
	case sp.is(kindSlot, "node_created"):
		o.reference(manifest.Snapshot, refSlot, p, 0)
		o.reference(manifest.Workflow, workflowSlot, p, 0)
	// A run needs its workflow, also if no node of it exists.
	case sp.is(kindSlot, "run_started"):
		o.reference(manifest.Workflow, workflowSlot, p, 0)
	case sp.is(kindSlot, "node_output_appended") && sp.is(payloadKindSlot, "artifact_ref"):
		o.reference(manifest.Artifact, payloadRefSlot, p, 0)
	}
}

// reference notes that the element p refers to an object. Members that are not strings are
// ignored here; the reader of events refuses them.
func (o *opener) reference(kind manifest.ObjectKind, at uint8, p element, by mark) {
	text, ok := o.parts.string(at)
	if !ok {
		return
	}
	t := o.b.table(kind)
	// Digests in another form are never the name of an embedded object.
	ref, ok := parseReference(text)
	if !ok {
		o.deferError(t.missing, o.pointer(), p.at, "%s is referenced and not a digest",
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

// collectPin notes the snapshot that a record pins.
func (o *opener) collectPin(p element) {
	o.reference(manifest.Snapshot, refSlot, p, byRecord)
}
