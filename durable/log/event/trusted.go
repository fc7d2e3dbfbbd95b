package event

import (
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// DecodeTrusted is DecodeLine for a line that DecodeLine accepted before, as its digest shows: what the members say is
// not checked again. Ignorable events are, since a healthy log may have some that this version cannot read. The event does
// not share memory with the line.
func (t *Table) DecodeTrusted(line []byte) (Event, error) {
	if e, ok := t.readTrusted(canon.SharedText(line)); ok { // line does not change during the call
		return e, nil
	}
	return t.DecodeLine(line)
}

// cursor reads the lines of one goroutine.
type cursor struct {
	canon.Exact
	words canon.Words
	event Event // that is being read
}

// cursors are reused: one of its own would be an allocation for each event.
var cursors = sync.Pool{New: func() any { return new(cursor) }}

// readTrusted reads a line from both ends: the members behind the dedupe key, the last one first, then actor and data. So
// the kind is known before the data, and the dedupe key, which follows from both, is not read.
func (t *Table) readTrusted(text string) (_ Event, ok bool) {
	x := cursors.Get().(*cursor)
	defer x.release()
	e := &x.event
	rest, kind, ok := t.readEnd(x, text, e)
	spec, known := t.specs[kind]
	if !ok || !known || spec.ignorable {
		return Event{}, false
	}
	if x.Exact = *x.words.Exact(text); !x.Literal("{") {
		return Event{}, false
	}
	e.Owner = x.Own(e.Owner)
	if x.Literal(`"actor":`) && (!e.Actor.ReadExact(&x.Exact) || e.Actor.Check() != nil || !x.Literal(",")) || !x.Literal(`"data":`) {
		return Event{}, false
	}
	from := x.Pos()
	e.Data, ok = spec.exact(&x.Exact)
	return *e, ok && x.Pos()-from <= limits.PayloadBytesMax && x.Literal(`,"dedupeKey":"`) && x.Pos() < len(rest)
}

// release returns x to the pool, without the line and the event.
func (x *cursor) release() {
	x.Exact, x.event = canon.Exact{}, Event{}
	cursors.Put(x)
}

// The lengths of the members whose texts all have one length.
const (
	eventIDMember = len(`,"eventId":"evt_"`) + id.TextLen
	nodeScope     = len(`,"scope":{"nodeId":"node_"}`) + id.TextLen
	runScope      = len(`,"scope":{"runId":"run_"}`) + id.TextLen
	wholeScope    = len(`,"scope":{"nodeId":"node_","runId":"run_"}`) + 2*id.TextLen
)

// readEnd reads the members behind the dedupe key into e. rest is the text before them. It reports false for an ignorable
// event.
func (t *Table) readEnd(x *cursor, text string, e *Event) (rest, kind string, ok bool) {
	rest, ok = strings.CutSuffix(text, `,"v":1}`)
	if before, n := endingInteger(rest, `,"timestampMs":`); n > 0 {
		rest, e.TimestampMs = before, n
	}
	if rest, e.Owner = endingText(rest, `":`); !ok || e.Owner == "" {
		return rest, "", false
	}
	if rest, ok = strings.CutSuffix(rest, t.OwnerField); !ok {
		return rest, "", false
	}
	if rest, ok = strings.CutSuffix(rest, `,"`); !ok {
		return rest, "", false
	}
	if strings.HasSuffix(rest, "}") {
		for _, n := range [...]int{wholeScope, runScope, nodeScope} {
			if at := len(rest) - n; at > 0 && strings.HasPrefix(rest[at:], `,"scope":{`) {
				x.Exact = *x.words.Exact(rest[at+len(`,"scope":`):])
				if !e.Scope.ReadExact(&x.Exact) || !x.Done() {
					return rest, "", false
				}
				rest = rest[:at]
				break
			}
		}
	}
	if rest, kind = endingText(rest, `,"kind":`); kind == "" {
		return rest, "", false
	}
	var n int64
	if rest, n = endingInteger(rest, `,"eventIndex":`); n < 0 {
		return rest, "", false
	}
	e.Index = n
	at := len(rest) - eventIDMember
	if at <= 0 || !strings.HasPrefix(rest[at:], `,"eventId":"`) || rest[len(rest)-1] != '"' {
		return rest, "", false
	}
	err := e.ID.UnmarshalString(rest[at+len(`,"eventId":"`) : len(rest)-1])
	return rest[:at], kind, err == nil && rest[at-1] == '"'
}

// endingText cuts a member of a name with a string without escapes from the end of text. s is "" where it has none.
func endingText(text, name string) (before, s string) {
	end := len(text) - 1
	if end < 0 || text[end] != '"' {
		return text, ""
	}
	at := strings.LastIndexByte(text[:end], '"')
	if at < 0 || !strings.HasSuffix(text[:at], name) {
		return text, ""
	}
	return text[:at-len(name)], text[at+1 : end]
}

// endingInteger cuts a member of a name with an integer of at most 15 digits from the end of text. n is -1 where it has none.
func endingInteger(text, name string) (before string, n int64) {
	at, unit := len(text), int64(1)
	for ; at > 0 && at > len(text)-15 && '0' <= text[at-1] && text[at-1] <= '9'; at-- {
		n += unit * int64(text[at-1]-'0')
		unit *= 10
	}
	if at == len(text) || !strings.HasSuffix(text[:at], name) {
		return text, -1
	}
	return text[:at-len(name)], n
}
