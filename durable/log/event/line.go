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

// Version is the member v of the envelope.
const Version = 1

// AppendLine appends e as one RFC 8785 line with its newline (docs/design.md#lines-and-files).
// Foreign events are appended as they were read. An error is returned for data that exceeds
// limits.PayloadBytesMax, a line that exceeds limits.LineBytesMax, and data that canon.Append
// refuses; dst is returned unchanged then.
func (t *Table) AppendLine(dst []byte, e Event) ([]byte, error) {
	start := len(dst)
	if e.Foreign() {
		dst = append(dst, e.read.line...)
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

// appendEnvelope appends the members in JCS order. It is written by hand because it is the most
// frequently executed code of a commit. OwnerField is between scope and timestampMs in that order.
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

// ErrNotAnEvent reports a line that is not an event of any version: it is not JSON, or has no
// index, kind or owner. Such a line is damage even in a segment with the attested digest.
var ErrNotAnEvent = errors.New("not an event")

// DecodeLine decodes one line without its newline. An event that this table would not encode to the
// same line is returned as Foreign (docs/design.md#foreign-stores). A line that is no event is
// ErrNotAnEvent. The result does not share memory with line.
func (t *Table) DecodeLine(line []byte) (Event, error) {
	if e, ok := t.decodeExact(line); ok {
		return e, nil
	}
	return t.decodeAny(line)
}

// decodeAny decodes lines that decodeExact does not accept: it reads foreign events as far as
// possible, and returns the reason for lines that are not events.
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
	if e.read == nil {
		e.read = &asRead{}
	}
	e.read.line = bytes.Clone(line)
	return e, nil
}

// envelope reads the members that the events of every program must have (kind, index, owner), and
// the optional ones that do not depend on the kind.
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
		e.read = &asRead{id: eventID.Text()}
	}
	return e, nil
}

// exact fills e from v and reports whether e encodes to line again. A member that could not be
// decoded is left out of e, so that the two differ. On false, e has the remaining members; its
// data has the type of its kind only where data and scope pass Check.
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
	p, err := spec.decode(data, canon.Decode)
	if err != nil {
		// An additional member makes the event foreign; its known members are decoded.
		p, err = spec.decode(data, canon.DecodeKnown)
	}
	if err != nil || spec.scope.check(e.Scope) != nil || p.Check(e.Scope) != nil {
		e.Data = spec.unknown(data)
		return false
	}
	e.Data = p
	if e.ID.IsZero() || checkDedupeKey(e.DedupeKey()) != nil || spec.ignorable && !e.Ignorable {
		return false
	}
	again, err := t.appendEnvelope(make([]byte, 0, len(line)), *e)
	return err == nil && bytes.Equal(again, line)
}
