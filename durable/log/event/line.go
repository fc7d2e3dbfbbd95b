package event

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Version is the envelope's v.
const Version = 1

// AppendLine writes e as one JCS line with its newline (R4). Foreign events are
// written as they were read.
func (t *Table) AppendLine(dst []byte, e Event) ([]byte, error) {
	start := len(dst)
	if e.verbatim != nil {
		dst = append(dst, e.verbatim...)
	} else {
		var err error
		if dst, err = t.appendEnvelope(dst, e); err != nil {
			return dst[:start], err
		}
	}
	if n := len(dst) - start; n >= limits.LineBytesMax {
		return dst[:start], fmt.Errorf("event %d: line of %d bytes: want less than %d", e.Index, n, limits.LineBytesMax)
	}
	return append(dst, '\n'), nil
}

// appendEnvelope writes the members in JCS order by hand: this is the hottest
// path of a commit, and the order is part of the format.
func (t *Table) appendEnvelope(dst []byte, e Event) (_ []byte, err error) {
	dst = append(dst, '{')
	if e.Actor.Kind != "" {
		dst = append(dst, `"actor":`...)
		if dst, err = canon.Append(dst, e.Actor); err != nil {
			return dst, err
		}
		dst = append(dst, ',')
	}
	dst = append(dst, `"data":`...)
	before := len(dst)
	if dst, err = canon.Append(dst, e.Data); err != nil {
		return dst, fmt.Errorf("event %d (%s): %w", e.Index, e.Data.Kind(), err)
	}
	if n := len(dst) - before; n > limits.PayloadBytesMax {
		return dst, fmt.Errorf("event %d (%s): data of %d bytes: want at most %d", e.Index, e.Data.Kind(), n,
			limits.PayloadBytesMax)
	}
	dst = append(append(dst, `,"dedupeKey":"`...), e.DedupeKey()...)
	dst = append(append(dst, `","eventId":"`...), e.ID.String()...)
	dst = strconv.AppendInt(append(dst, `","eventIndex":`...), e.Index, 10)
	if e.Ignorable {
		dst = append(dst, `,"ignorable":true`...)
	}
	dst = append(append(dst, `,"kind":"`...), e.Data.Kind()...)
	if dst = append(dst, '"'); !e.Scope.IsZero() {
		dst = append(dst, `,"scope":`...)
		if dst, err = canon.Append(dst, e.Scope); err != nil {
			return dst, err
		}
	}
	dst = append(append(append(dst, `,"`...), t.OwnerField...), `":"`...)
	dst = append(append(dst, e.Owner...), '"')
	if e.TimestampMs != 0 {
		dst = strconv.AppendInt(append(dst, `,"timestampMs":`...), e.TimestampMs, 10)
	}
	dst = strconv.AppendInt(append(dst, `,"v":`...), Version, 10)
	return append(dst, '}'), nil
}

// ErrNotAnEvent says that a line is no event at all: not JSON, no index, no
// kind. In a segment whose digest holds, such a line is damage.
var ErrNotAnEvent = errors.New("not an event")

// DecodeLine reads one line without its newline. What is an event but not in the
// spelling of this table comes back Foreign (R14); what is none is ErrNotAnEvent.
func (t *Table) DecodeLine(line []byte) (Event, error) {
	if e, ok := t.decodeExact(line); ok {
		return e, nil
	}
	return t.decodeAny(line)
}

// decodeAny is the long way, for lines that are not ours: it knows how far they can be
// read, and what is wrong with those that are none.
func (t *Table) decodeAny(line []byte) (Event, error) {
	v, err := canon.Parse(line)
	if err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrNotAnEvent, err)
	}
	e, err := t.envelope(v)
	if err != nil {
		return Event{}, err
	}
	if t.exact(&e, v, line) {
		return e, nil
	}
	e.verbatim = bytes.Clone(line)
	return e, nil
}

// envelope reads the members that every event must have, whoever wrote it, and
// those that count even where the rest is not known.
func (t *Table) envelope(v canon.Value) (e Event, err error) {
	kind, _ := v.Get("kind")
	index, ok := v.Get("eventIndex")
	owner, _ := v.Get(t.OwnerField)
	if kind.Text() == "" || !ok || index.Kind() != canon.Number || owner.Text() == "" {
		return Event{}, fmt.Errorf("%w: want kind, eventIndex and %s", ErrNotAnEvent, t.OwnerField)
	}
	e = Event{Index: int64(index.Float()), Owner: owner.Text(), Data: Unknown{kind: kind.Text()}}
	if float64(e.Index) != index.Float() || e.Index < 0 {
		return Event{}, fmt.Errorf("%w: eventIndex is no whole number", ErrNotAnEvent)
	}
	if at, ok := v.Get("timestampMs"); ok {
		e.TimestampMs = int64(at.Float())
	}
	ignorable, _ := v.Get("ignorable")
	e.Ignorable = ignorable.True()
	eventID, _ := v.Get("eventId")
	if e.ID, err = id.ParseEvent(eventID.Text()); err != nil {
		e.idText = eventID.Text()
	}
	return e, nil
}

// exact fills e from v and reports whether e encodes to line again: what could not
// be read is left out of e, so that the two differ. On false, e holds the rest; its
// data is typed only where it and its scope keep the promises of the kind.
func (t *Table) exact(e *Event, v canon.Value, line []byte) bool {
	if raw, ok := v.Get("scope"); ok && canon.Decode(raw, &e.Scope) != nil {
		e.Scope = Scope{}
	}
	if raw, ok := v.Get("actor"); ok && (canon.Decode(raw, &e.Actor) != nil || e.Actor.Check() != nil) {
		e.Actor = Actor{}
	}
	spec, known := t.specs[e.Data.Kind()]
	data, ok := v.Get("data")
	if !known || !ok {
		return false
	}
	p, err := spec.decode(data)
	if err != nil {
		// A member more makes the event foreign, not unreadable: the rest still counts.
		p, err = spec.known(data)
	}
	if err != nil || spec.scope.check(e.Scope) != nil || p.Check(e.Scope) != nil {
		e.Data = spec.unknown(data)
		return false
	}
	e.Data = p
	if e.ID.IsZero() || checkDedupeKey(e.DedupeKey()) != nil {
		return false
	}
	again, err := t.appendEnvelope(make([]byte, 0, len(line)), *e)
	return err == nil && bytes.Equal(again, line)
}
