package manifest

import (
	"bytes"

	"github.com/waybill/waybill/durable/canon"
)

// Digests verifies a log as Read does, but decodes no segment that its group attests:
// the group must be spelled as ours are, follow the head, and name a file that has the
// digest and the length which it says. Whatever is otherwise is read as Read does, and
// judged so: groups of other programs, the tail, damage. What it does not see is what
// only events can tell: that a group's pins are those of its events, and kinds or
// shapes that this version does not know. A pin that was changed is seen by the next
// group, so that the head of a damaged log may be one group later than Read has it.
//
// visit is handed the snapshots that a group pins.
func Digests(in Input, visit func(pins []canon.Digest, head Head) error) (Verdict, error) {
	r, done := begin(in)
	defer done()
	r.digests = true
	decoded := func(seg Segment, head Head) error {
		var pins []canon.Digest
		for _, p := range seg.pins() {
			pins = append(pins, p.ref)
		}
		return visit(pins, head)
	}
	return r.all(func() (bool, error) {
		if ok, err := r.attested(visit); ok || err != nil {
			return false, err
		}
		return r.group(decoded)
	})
}

// attested commits the next group if it is one of ours and its segment is as it says.
func (r *reader) attested(visit func([]canon.Digest, Head) error) (bool, error) {
	line, err := r.peekLine()
	if err != nil {
		return false, err
	}
	c, ok := r.closes(line)
	if !ok || c.pins > c.last-c.first+1 {
		return false, nil
	}
	pins, size, err := r.pinLines(c, len(line))
	if err != nil || int64(len(pins)) != c.pins {
		return false, err
	}
	// What the pins say is vouched for by the group behind, which names this one by its
	// digest. The last group has none: it is compared with its events.
	have, err := r.peek(size + len(groupBegins))
	if err != nil || string(have[min(size, len(have)):]) != groupBegins {
		return false, err
	}
	got := r.ahead.take(c.span)
	if got == nil {
		got = &loaded{span: c.span}
		got.load(r.in, c.name(), 1)
	}
	if got.err != nil || !got.there || got.sum != c.sum || got.bytes != c.bytes {
		return false, got.err
	}
	group, err := r.peek(size)
	if err != nil {
		return false, err
	}
	head := Head{Digest: canon.Sum(group), GroupAt: r.v.Head.Bytes, Bytes: r.v.Head.Bytes + int64(size), Next: c.last +
		1, NextRecord: r.v.Head.NextRecord + 1 + c.pins}
	if _, err := r.manifest.Discard(size); err != nil {
		return false, err
	}
	r.v.Head = head
	r.read += got.bytes
	if r.in.From.IsZero() {
		r.committed = append(r.committed, c.first)
	}
	return true, visit(pins, head)
}

// groupBegins is how the first line of every group of ours does.
const groupBegins = `{"bytes":`

// closed is what a segment_closed says.
type closed struct {
	span
	bytes, pins int64
	sum         canon.Digest
}

// closes reads a segment_closed line in the spelling that Group has for the head.
func (r *reader) closes(line []byte) (c closed, ok bool) {
	text, whole := bytes.CutSuffix(line, []byte{'\n'})
	x, valid := canon.ExactText(string(text))
	if !whole || !valid {
		return c, false
	}
	number := func(name string, n *int64) bool {
		if !x.Literal(name) {
			return false
		}
		*n, ok = x.Whole()
		return ok
	}
	var index int64
	if !number(`{"bytes":`, &c.bytes) || !number(`,"firstEventIndex":`, &c.first) ||
		!number(`,"kind":"`+KindSegmentClosed+`","lastEventIndex":`, &c.last) ||
		!number(`,"manifestIndex":`, &index) || !number(`,"pins":`, &c.pins) {
		return c, false
	}
	if c.first != r.v.Head.Next || c.last < c.first || index != r.v.Head.NextRecord || c.pins < 0 {
		return c, false
	}
	if prev := r.v.Head.Digest; !prev.IsZero() && !x.Literal(`,"prev":"`+prev.String()+`"`) {
		return c, false
	}
	if !x.Literal(`,"segmentRelPath":"` + SegmentDir + "/" + c.name() + `"`) {
		return c, false
	}
	c.sum, ok = r.recordEnd(x, `"sha256":`)
	return c, ok
}

// recordEnd reads what endRecord writes.
func (r *reader) recordEnd(x *canon.Exact, name string) (d canon.Digest, ok bool) {
	owner := string(appendOwner(nil, r.in.Log))
	inFront := ownerInFront(r.in.Log, name)
	if inFront && !x.Literal(","+owner) || !x.Literal(","+name) {
		return d, false
	}
	text, ok := x.Plain()
	if !ok || d.UnmarshalString(text) != nil || !inFront && !x.Literal(","+owner) {
		return d, false
	}
	return d, x.Literal(`,"v":1}`) && x.Done()
}

// pinLines reads the pins of a group behind its first line, up to the first one that is
// not as Group spells it. size is that of all lines.
func (r *reader) pinLines(c closed, first int) (pins []canon.Digest, size int, err error) {
	size = first
	last := c.first - 1
	have, err := r.peek(min(first+int(c.pins)*384, windowMax))
	if err != nil {
		return nil, 0, err
	}
	for range c.pins {
		end := bytes.IndexByte(have[size:], '\n')
		if end < 0 {
			if have, err = r.peek(len(have) + windowMax/4); err != nil {
				return nil, 0, err
			}
			if end = bytes.IndexByte(have[size:], '\n'); end < 0 {
				return pins, size, nil
			}
		}
		at, ref, ok := r.pins(string(have[size:size+end]), int64(len(pins)))
		if !ok || at <= last || at > c.last {
			return pins, size, nil
		}
		last = at
		pins, size = append(pins, ref), size+end+1
	}
	return pins, size, nil
}

// pins reads the n-th snapshot_pinned line of the group behind the head.
func (r *reader) pins(line string, n int64) (at int64, ref canon.Digest, ok bool) {
	x, ok := canon.ExactText(line)
	if !ok || !x.Literal(`{"createdByEventId":`) {
		return 0, ref, false
	}
	if _, ok = x.Text(); !ok || !x.Literal(`,"eventIndex":`) {
		return 0, ref, false
	}
	if at, ok = x.Whole(); !ok || !x.Literal(`,"kind":"`+KindSnapshotPinned+`","manifestIndex":`) {
		return 0, ref, false
	}
	if index, ok := x.Whole(); !ok || index != r.v.Head.NextRecord+1+n {
		return 0, ref, false
	}
	ref, ok = r.recordEnd(x, `"snapshotRef":`)
	return at, ref, ok
}
