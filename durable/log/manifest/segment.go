package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Segment is the events of one plan, which are stored in one file.
type Segment struct {
	First, Last int64 // event indices
	// Bytes are the lines of the events, nil in one that was read for Input.TrustedEvents.
	Bytes  []byte
	Events []event.Event
	// Group is the lines that commit the segment, as they were read, which state its Sum and Size; all of them are zero in an
	// encoded segment.
	Group []byte
	Sum   canon.Digest // of the bytes
	Size  int64        // of the bytes
}

// Name returns the segment's file name.
//
//go:noinline
func (s Segment) Name() string { return SegmentName(s.First, s.Last) }

// pin is a snapshot that an event of a segment refers to.
type pin struct {
	index int64
	event string // the event's id as its line spells it
	ref   canon.Digest
}

// pins returns the pins of the segment's events, in their order.
func (s Segment) pins() []pin {
	var out []pin
	for _, e := range s.Events {
		if p, ok := e.Data.(event.Pinner); ok && !p.Pin().IsZero() {
			out = append(out, pin{e.Index, e.IDText(), p.Pin()})
		}
	}
	return out
}

// EncodeSegment returns the segment with a plan's events. It checks every event, so that nothing is
// written that a reader would refuse. An error means a bug in the caller, or a log with more
// events than segment names can express; nothing may be written then.
func EncodeSegment(log Log, events []event.Event) (Segment, error) {
	if len(events) == 0 {
		return Segment{}, errors.New("manifest: a plan without events")
	}
	s := Segment{First: events[0].Index, Last: events[len(events)-1].Index, Events: events}
	for i, e := range events {
		if e.Index != s.First+int64(i) || e.Owner != log.Owner {
			return Segment{}, fmt.Errorf("manifest: event %d of %s is planned as event %d of %s", e.Index, e.Owner,
				s.First+int64(i), log.Owner)
		}
		if err := e.Check(log.Table); err != nil {
			return Segment{}, err
		}
		var err error
		if s.Bytes, err = log.Table.AppendLine(s.Bytes, e); err != nil {
			return Segment{}, err
		}
	}
	if s.Last > limits.EventIndexMax {
		return Segment{}, fmt.Errorf("manifest: a log holds at most %d events", limits.EventIndexMax+1)
	}
	return s, nil
}

// DecodeSegment decodes the bytes of events/<first>-<last>.jsonl. An error means that the bytes are
// not that segment. Events of kinds or forms that the table does not know are returned as foreign
// events, not as errors (docs/design.md#foreign-stores).
func DecodeSegment(log Log, first, last int64, data []byte) (Segment, error) {
	return decodeParts(log, first, last, data, 1, decoding{line: log.Table.DecodeLine})
}

// decodeLine decodes the line of an event.
type decodeLine func([]byte) (event.Event, error)

// decoding is how the lines of a segment are decoded.
type decoding struct {
	line  decodeLine
	reuse bool // the events get the memory of a list that recycle received, if it suffices
}

// unusedLists are empty lists of events with memory.
var unusedLists sync.Pool

// recycle makes the memory of events free for others.
func recycle(events []event.Event) {
	if cap(events) > 0 {
		clear(events)
		events = events[:0]
		unusedLists.Put(&events)
	}
}

// list returns a list for n events.
func (d decoding) list(n int64) []event.Event {
	if d.reuse {
		if list, ok := unusedLists.Get().(*[]event.Event); ok && int64(cap(*list)) >= n {
			return *list
		}
	}
	return make([]event.Event, 0, n)
}

// decodeParts is DecodeSegment with up to parts goroutines; the result does not depend on parts.
func decodeParts(log Log, first, last int64, data []byte, parts int, how decoding) (Segment, error) {
	s := Segment{First: first, Last: last, Bytes: data}
	// A line has at least one byte: a forged name must not size the slice of events.
	if last-first >= int64(len(data)) {
		return Segment{}, fmt.Errorf("%d bytes cannot hold events %d to %d", len(data), first, last)
	}
	n := last - first + 1
	var err error
	if parts > 1 && len(data) >= partBytes && int64(bytes.Count(data, []byte{'\n'})) == n {
		s.Events, err = decodeParallel(log, how.list(n)[:n], first, data, parts, how.line)
	} else {
		s.Events, err = decodeLines(log, how.list(n), first, data, how.line)
	}
	if got := int64(len(s.Events)); err == nil && got != n {
		err = fmt.Errorf("%d events where the name says %d", got, n)
	}
	if err != nil {
		return Segment{}, err
	}
	return s, nil
}

// decodeLines decodes events with indices from first and appends them to out.
func decodeLines(log Log, out []event.Event, first int64, data []byte, line decodeLine) ([]event.Event, error) {
	for at := first; len(data) > 0; at++ {
		end := bytes.IndexByte(data, '\n')
		if end < 0 || end >= limits.LineBytesMax {
			return out, fmt.Errorf("event %d: line without an end", at)
		}
		e, err := line(data[:end])
		if err != nil {
			return out, fmt.Errorf("event %d: %w", at, err)
		}
		if e.Index != at || e.Owner != log.Owner {
			return out, fmt.Errorf("event %d of %s stands where event %d of %s should", e.Index, e.Owner, at, log.Owner)
		}
		out = append(out, e)
		data = data[end+1:]
	}
	return out, nil
}

// decodeParallel decodes parts of a segment in parallel, each into its own range of events, which has one for each line. Of
// several errors it returns the first in the order of lines, where a single reader would have
// stopped.
func decodeParallel(log Log, events []event.Event, first int64, data []byte, parts int, line decodeLine) ([]event.Event, error) {
	errs := make([]error, parts)
	var done sync.WaitGroup
	rest, size := events, len(data)/parts
	for i := 0; len(data) > 0; i++ {
		part := data
		if end := bytes.IndexByte(data[min(size, len(data)):], '\n'); i < parts-1 && end >= 0 {
			part = data[:size+end+1]
		}
		lines := bytes.Count(part, []byte{'\n'})
		out, from := rest[:0:lines], first+int64(len(events)-len(rest))
		data, rest = data[len(part):], rest[lines:]
		done.Go(func() { _, errs[i] = decodeLines(log, out, from, part, line) })
	}
	done.Wait()
	return events, cmp.Or(errs...)
}
