package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Segment is one plan's events as they lie in one file.
type Segment struct {
	First, Last int64
	Bytes       []byte
	Events      []event.Event
	// Group are the lines that commit the segment, as a reader found them.
	Group []byte
}

// Name is the segment's file name.
func (s Segment) Name() string { return SegmentName(s.First, s.Last) }

// pin is a snapshot reference that a segment's events introduce or repeat.
type pin struct {
	index int64
	event string // as its line spells it
	ref   canon.Digest
}

func (s Segment) pins() []pin {
	var out []pin
	for _, e := range s.Events {
		if p, ok := e.Data.(event.Pinner); ok && !p.Pin().IsZero() {
			out = append(out, pin{e.Index, e.IDText(), p.Pin()})
		}
	}
	return out
}

// EncodeSegment writes a plan's events as they will lie in their file. It checks
// every event: nothing that a reader would refuse is ever written.
func EncodeSegment(log Log, events []event.Event) (Segment, error) {
	if len(events) == 0 {
		return Segment{}, errors.New("manifest: a plan without events")
	}
	s := Segment{First: events[0].Index, Last: events[len(events)-1].Index, Events: events}
	for i, e := range events {
		if e.Index != s.First+int64(i) || e.Owner != log.Owner {
			return Segment{}, fmt.Errorf("manifest: event %d of %s stands at %d of %s", e.Index, e.Owner,
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

// DecodeSegment reads the bytes of events/<first>-<last>.jsonl. An error means
// that the bytes are no such segment; events of kinds or shapes that the table
// does not know come back foreign.
func DecodeSegment(log Log, first, last int64, data []byte) (Segment, error) {
	return decodeParts(log, first, last, data, 1)
}

// decodeParts is DecodeSegment by so many goroutines; what it says is what one would.
func decodeParts(log Log, first, last int64, data []byte, parts int) (Segment, error) {
	s := Segment{First: first, Last: last, Bytes: data}
	if last-first >= int64(len(data)) {
		return Segment{}, fmt.Errorf("%d bytes cannot hold events %d to %d", len(data), first, last)
	}
	if parts > 1 && len(data) >= partBytes && int64(bytes.Count(data, []byte{'\n'})) == last-first+1 {
		var err error
		s.Events, err = decodeSide(log, first, data, parts)
		if err != nil {
			return Segment{}, err
		}
		return s, nil
	}
	var err error
	if s.Events, err = decodeLines(log, make([]event.Event, 0, last-first+1), first, data); err != nil {
		return Segment{}, err
	}
	if got := int64(len(s.Events)); got != last-first+1 {
		return Segment{}, fmt.Errorf("%d events where the name says %d", got, last-first+1)
	}
	return s, nil
}

// decodeLines reads events from first on behind what is in out.
func decodeLines(log Log, out []event.Event, first int64, data []byte) ([]event.Event, error) {
	for at := first; len(data) > 0; at++ {
		end := bytes.IndexByte(data, '\n')
		if end < 0 || end >= limits.LineBytesMax {
			return out, fmt.Errorf("event %d: line without an end", at)
		}
		e, err := log.Table.DecodeLine(data[:end])
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

// decodeSide reads parts of a segment side by side. Of several errors the first in the
// order of lines counts: it is where one reader would have stopped.
func decodeSide(log Log, first int64, data []byte, parts int) ([]event.Event, error) {
	events := make([]event.Event, bytes.Count(data, []byte{'\n'}))
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
		done.Go(func() { _, errs[i] = decodeLines(log, out, from, part) })
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}
