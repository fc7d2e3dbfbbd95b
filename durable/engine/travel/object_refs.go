package travel

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// objectRefs is a visitor that collects the objects that a log's events refer
// to, which an export has to contain. A long session refers to hundreds of
// thousands of snapshots, so digests are kept raw and each once.
type objectRefs struct {
	head manifest.Head
	refs map[manifest.ObjectKind]*digests
}

// newObjectRefs returns an empty collector.
func newObjectRefs() *objectRefs {
	return &objectRefs{refs: map[manifest.ObjectKind]*digests{manifest.Snapshot: {}, manifest.Workflow: {},
		manifest.Artifact: {}}}
}

// Visit implements ports.Visitor.
func (c *objectRefs) Visit(seg manifest.Segment, head manifest.Head) error {
	c.head = head
	for _, e := range seg.Events {
		eachObjectRef(e, c.add)
	}
	return nil
}

// eachObjectRef calls each for the objects that an event refers to. A zero
// digest means none.
func eachObjectRef(e event.Event, each func(manifest.ObjectKind, canon.Digest)) {
	if p, ok := e.Data.(event.Pinner); ok {
		each(manifest.Snapshot, p.Pin())
	}
	switch p := e.Data.(type) {
	case event.RunStarted:
		each(manifest.Workflow, p.WorkflowHash)
	case event.NodeOutputAppended:
		if p.OutputChannel == event.Artifact {
			each(manifest.Artifact, p.Payload.SHA256)
		}
	}
}

// add records a reference. Zero digests are ignored.
func (c *objectRefs) add(kind manifest.ObjectKind, ref canon.Digest) {
	if !ref.IsZero() {
		c.refs[kind].add(ref)
	}
}

// digests is a set of digests that takes 32 bytes for each.
type digests struct {
	all [][32]byte
	// sorted is the length of the prefix in order and without duplicates.
	sorted int
}

// add adds a digest. Duplicates are removed when the unsorted part has outgrown
// the sorted one.
func (d *digests) add(ref canon.Digest) {
	d.all = append(d.all, ref.Raw())
	if len(d.all) >= 2*d.sorted+1024 {
		d.sort()
	}
}

// sort orders the set and removes duplicates.
func (d *digests) sort() {
	slices.SortFunc(d.all, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
	d.all = slices.Compact(d.all)
	d.sorted = len(d.all)
}

// each calls fn with every digest, in order, until fn fails.
func (d *digests) each(fn func(canon.Digest) error) error {
	d.sort()
	for _, raw := range d.all {
		if err := fn(canon.DigestOf(raw)); err != nil {
			return err
		}
	}
	return nil
}
