package manifest

import (
	"bytes"

	"github.com/waybill/waybill/durable/canon"
)

// Digests verifies a log like Read, but does not decode a segment whose group attests it: the
// group must be spelled as Group spells it, follow the head, and name a file with the digest and
// length that it states. Everything else is read and judged like in Read: groups of other
// programs, the tail and damage.
//
// It does not find what only events show: pins that are not those of the group's events, and
// event kinds or forms that this version does not know. A changed pin is found by the next group,
// so that the head of a damaged log may be one group later than that of Read.
//
// visit is called for each group in order, with the snapshots that the group pins. The errors are
// those of Read.
func Digests(in Input, visit func(pins []canon.Digest, head Head) error) (Verdict, error) {
	r, done := newReader(in)
	defer done()
	r.digests = true
	decoded := func(seg Segment, head Head) error {
		var pins []canon.Digest
		for _, p := range seg.pins() {
			pins = append(pins, p.ref)
		}
		return visit(pins, head)
	}
	return r.readAll(func() (bool, error) {
		if ok, err := r.attested(visit); ok || err != nil {
			return false, err
		}
		return r.group(decoded)
	})
}

// attested commits the next group if Waybill wrote it and its segment has the stated digest. On
// false nothing was consumed, and the group has to be read by its events.
func (r *reader) attested(visit func([]canon.Digest, Head) error) (bool, error) {
	line, err := r.peekLine()
	if err != nil {
		return false, err
	}
	c, ok := r.parseClosed(line)
	// A segment has at most one pin per event; a larger number must not size a buffer.
	if !ok || c.pins > c.last-c.first+1 {
		return false, nil
	}
	pins, size, err := r.parsePins(c, len(line))
	if err != nil || int64(len(pins)) != c.pins {
		return false, err
	}
	// The next group attests the pins, since it contains the digest of this one. The last group
	// has no next one: it is compared with its events.
	have, err := r.peek(size + len(groupPrefix))
	if err != nil || string(have[min(size, len(have)):]) != groupPrefix {
		return false, err
	}
	got := r.prefetch.take(c.span)
	if got == nil { // not prefetched
		got = &segmentLoad{span: c.span}
		got.load(r.in, c.name(), 1)
	}
	if got.err != nil || !got.exists || got.sum != c.sum || got.bytes != c.bytes {
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

// groupPrefix is the beginning of the first line of every group that Waybill writes.
const groupPrefix = `{"bytes":`

// closed is a decoded segment_closed record.
type closed struct {
	span
	bytes, pins int64
	sum         canon.Digest
}

// parseClosed decodes a segment_closed line that follows the head in the spelling of Group. ok is
// false for any other line.
func (r *reader) parseClosed(line []byte) (c closed, ok bool) {
	text, whole := bytes.CutSuffix(line, []byte{'\n'})
	x := canon.ExactText(string(text))
	if !whole {
		return c, false
	}
	number := func(name string, n *int64) bool {
		if !x.Literal(name) {
			return false
		}
		*n, ok = x.Integer()
		return ok
	}
	var index int64
	if !number(`{"bytes":`, &c.bytes) || !number(`,"firstEventIndex":`, &c.first) ||
		!number(`,"kind":"`+KindSegmentClosed+`","lastEventIndex":`, &c.last) ||
		!number(`,"manifestIndex":`, &index) || !number(`,"pins":`, &c.pins) {
		return c, false
	}
	// The line must follow the head: in events, in records and, below, in the chain.
	if c.first != r.v.Head.Next || c.last < c.first || index != r.v.Head.NextRecord || c.pins < 0 {
		return c, false
	}
	if prev := r.v.Head.Digest; !prev.IsZero() && !x.Literal(`,"prev":"`+prev.String()+`"`) {
		return c, false
	}
	if !x.Literal(`,"segmentRelPath":"` + SegmentDir + "/" + c.name() + `"`) {
		return c, false
	}
	c.sum, ok = r.parseRecordEnd(x, `"sha256":`)
	return c, ok
}

// parseRecordEnd reads the end of a record as appendRecordEnd writes it, and returns its digest.
func (r *reader) parseRecordEnd(x *canon.Exact, name string) (d canon.Digest, ok bool) {
	owner := string(appendOwner(nil, r.in.Log))
	first := ownerFirst(r.in.Log, name)
	if first && !x.Literal(","+owner) || !x.Literal(","+name) {
		return d, false
	}
	text, ok := x.Plain()
	if !ok || d.UnmarshalString(text) != nil || !first && !x.Literal(","+owner) {
		return d, false
	}
	return d, x.Literal(`,"v":1}`) && x.Done()
}

// parsePins reads the pin lines of a group, whose first line has first bytes. It stops at a line
// that Group would not have written; the caller compares the number of pins. size is the number
// of bytes of the first line and the pin lines.
func (r *reader) parsePins(c closed, first int) (pins []canon.Digest, size int, err error) {
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
		// Pins are in the order of their events, one per event.
		at, ref, ok := r.parsePin(string(have[size:size+end]), int64(len(pins)))
		if !ok || at <= last || at > c.last {
			return pins, size, nil
		}
		last = at
		pins, size = append(pins, ref), size+end+1
	}
	return pins, size, nil
}

// parsePin decodes the n-th snapshot_pinned line of the group behind the head.
func (r *reader) parsePin(line string, n int64) (at int64, ref canon.Digest, ok bool) {
	x := canon.ExactText(line)
	if !x.Literal(`{"createdByEventId":`) {
		return 0, ref, false
	}
	if _, ok = x.Text(); !ok || !x.Literal(`,"eventIndex":`) {
		return 0, ref, false
	}
	if at, ok = x.Integer(); !ok || !x.Literal(`,"kind":"`+KindSnapshotPinned+`","manifestIndex":`) {
		return 0, ref, false
	}
	if index, ok := x.Integer(); !ok || index != r.v.Head.NextRecord+1+n {
		return 0, ref, false
	}
	ref, ok = r.parseRecordEnd(x, `"snapshotRef":`)
	return at, ref, ok
}
