package bundle

import (
	"fmt"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// log is a session's own log, whose name is "", or a side log.
type log struct {
	events, records list
	found           bool // a side log that session has, not only integrity
}

func newLog(name string) *log {
	l := &log{}
	l.events.path, l.records.path = listPath(name, eventsName), listPath(name, manifestName)
	return l
}

// list is the events or the manifest records of a log: where they lie in the file,
// and what is known of them so far.
type list struct {
	path  string
	value attested // what the content is
	entry attested // what integrity says it is
	start int64    // of its bracket
	depth int      // levels that an element may nest

	count int64  // elements so far
	owner string // the sessionId of all of them, once one is seen
	next  int64  // records: the event that the next segment begins with
}

// attested is a digest and a length that one side states.
type attested struct {
	found bool
	sum   reference
	bytes int64
}

// lineMax bounds an event or a record without its newline (manifest.DecodeSegment).
const lineMax = limits.LineBytesMax - 1

// event tells why the event that sp looked at cannot stand next, "" if it can.
func (l *list) event(sp *spelling) string {
	if n, ok := sp.count(indexSlot); !ok || n != l.count {
		return fmt.Sprintf("eventIndex is %s: want %d", brief(sp.raw(indexSlot)), l.count)
	}
	return l.owned(sp)
}

// record is the same for a manifest record. What a segment's digest is over, and
// whether every node_created is pinned, manifest.Read finds out later.
func (l *list) record(sp *spelling) string {
	if n, ok := sp.count(indexSlot); !ok || n != l.count {
		return fmt.Sprintf("manifestIndex is %s: want %d", brief(sp.raw(indexSlot)), l.count)
	}
	switch {
	case sp.is(kindSlot, manifest.KindSegmentClosed):
		first, okFirst := sp.count(firstSlot)
		last, okLast := sp.count(lastSlot)
		if !okFirst || !okLast || first != l.next || last < first || last > limits.EventIndexMax {
			return fmt.Sprintf("the segment holds events %s to %s: want it to begin with %d",
				brief(sp.raw(firstSlot)), brief(sp.raw(lastSlot)), l.next)
		}
		// A path that is anything but this name would lead a reader elsewhere.
		want := manifest.SegmentDir + "/" + manifest.SegmentName(first, last)
		if !sp.is(relPathSlot, want) {
			return fmt.Sprintf("segmentRelPath is %s: want %q", brief(sp.raw(relPathSlot)), want)
		}
		l.next = last + 1
	case sp.is(kindSlot, manifest.KindSnapshotPinned):
		if n, ok := sp.count(createdIndexSlot); !ok || n >= l.next {
			return fmt.Sprintf("a snapshot is pinned for event %s, and no segment before holds it",
				brief(sp.raw(createdIndexSlot)))
		}
	}
	return l.owned(sp)
}

func (l *list) owned(sp *spelling) string {
	text, _ := sp.string(ownerSlot)
	if l.owner == "" {
		l.owner = string(text)
	}
	if len(text) == 0 || string(text) != l.owner {
		return fmt.Sprintf("sessionId is %s: want %q", brief(sp.raw(ownerSlot)), l.owner)
	}
	return ""
}

// brief is a value for a message.
func brief(raw []byte) string {
	const most = 80
	switch {
	case len(raw) == 0:
		return "missing"
	case len(raw) > most:
		return fmt.Sprintf("%.*q and more", most, raw)
	}
	return string(raw)
}
