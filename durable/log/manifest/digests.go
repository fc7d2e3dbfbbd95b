package manifest

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

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
	visitPins := func(pins []pin, head Head) error {
		var refs []canon.Digest
		for _, p := range pins {
			refs = append(refs, p.ref)
		}
		return visit(refs, head)
	}
	return r.readAll(func() (bool, error) {
		if ok, err := r.attested(func(_ *segmentLoad, _ []byte, pins []pin, head Head) error {
			return visitPins(pins, head)
		}); ok || err != nil {
			return false, err
		}
		return r.group(func(seg Segment, head Head) error { return visitPins(seg.pins(), head) })
	})
}

// attested commits the next group if Waybill wrote it and its segment has the stated digest. On
// false nothing was consumed, and the group has to be read by its events.
func (r *reader) attested(visit func(l *segmentLoad, group []byte, pins []pin, head Head) error) (bool, error) {
	stated, pins, err := r.statedGroup()
	if err != nil || stated.first != r.v.Head.Next || stated.last < stated.first || r.digests && r.in.Hash == nil {
		return false, err
	}
	group := appendGroup(r.encoded[:0], r.in.Log, r.v.Head, stated, pins, true)
	r.encoded = group
	// The next group attests the pins, since it contains the digest of this one. The last group
	// has no next one: it is compared with its events.
	have, err := r.peek(len(group) + len(closedPrefix))
	if rest, ok := bytes.CutPrefix(have, group); !ok || string(rest) != closedPrefix {
		return false, err
	}
	if err := r.refillPrefetch(stated.bytes); err != nil {
		return false, err
	}
	got := r.prefetch.take(stated.span)
	if got == nil { // not prefetched
		got = &segmentLoad{attestation: attestation{span: stated.span}, size: math.MaxInt64, raw: !r.digests}
		got.load(r.in, 1)
	} else if err := r.refillPrefetch(0); err != nil { // the workers load while the segment is visited
		return false, err
	}
	if got.err != nil || !got.exists || got.attestation != stated || got.decodeErr != nil {
		return false, got.err
	}
	return true, r.commit(group, stated, func(head Head) error { return visit(got, group, pins, head) })
}

// The beginnings of the lines of every group that Waybill writes.
const (
	closedPrefix = `{"bytes":`
	pinnedPrefix = `{"createdByEventId":`
)

// statedGroup returns what the next group states, without a check of its spelling: the caller
// compares the lines with their encoding. The pins end at the first line that cannot be a pin of the
// segment.
func (r *reader) statedGroup() (stated attestation, pins []pin, err error) {
	line, err := r.peekLine(0)
	in := members(line)
	stated.bytes, stated.first, stated.last = in.number(`"bytes":`), in.number(`"firstEventIndex":`), in.number(`"lastEventIndex":`)
	stated.sum = in.digest(`"sha256":`)
	// Pins are in the order of their events, one per event.
	for next, end := stated.first, len(line); err == nil; end += len(line) {
		line, err = r.peekLine(end)
		if !bytes.HasPrefix(line, []byte(pinnedPrefix)) {
			break
		}
		in := members(line)
		event := string(in.text(`"createdByEventId":`))
		p := pin{in.number(`"eventIndex":`), event, in.digest(`"snapshotRef":`)}
		if p.index < next || p.index > stated.last || p.ref.IsZero() || !utf8.ValidString(event) {
			break
		}
		pins, next = append(pins, p), p.index+1
	}
	return stated, pins, err
}

// members is the rest of a line, whose members are asked for in the order in which appendGroup writes them. For a line of
// another spelling the values are any.
type members []byte

// text returns the value of the next member of a name, which is given with its quotes and colon, without quotes.
func (m *members) text(name string) []byte {
	at := bytes.Index(*m, []byte(name))
	if at < 0 {
		*m = nil
		return nil
	}
	value, rest, _ := bytes.Cut((*m)[at+len(name):], []byte{','})
	*m = rest
	return bytes.Trim(value, `"`)
}

// number returns a whole number that a double holds exactly, -1 for any other value: the sum of
// two of them does not overflow.
func (m *members) number(name string) int64 {
	text := m.text(name)
	if len(text) == 0 {
		return -1
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 || n > 1<<53 {
		return -1
	}
	return n
}

func (m *members) digest(name string) canon.Digest {
	d, _ := canon.ParseDigest(string(m.text(name)))
	return d
}
