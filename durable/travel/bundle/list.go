package bundle

import (
	"fmt"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// log is the session's own log, whose name is "", or a side log.
type log struct {
	name            string
	events, records list
	found           bool // the session has the side log; otherwise only integrity names it
}

// newLog returns an empty log with the integrity paths of its lists.
func newLog(name string) *log {
	l := &log{name: name}
	l.events.path, l.records.path = listPath(name, eventsName), listPath(name, manifestName)
	return l
}

// list is the events or the manifest records of a log: its position in the file, and what is
// known about it so far.
type list struct {
	// path is the integrity path, such as session/events.
	path  string
	value listDigest // computed from the content
	entry listDigest // stated by integrity
	// start is where Lines begins to read.
	start int64 // offset of the opening bracket
	depth int   // levels that an element may nest

	count int64  // elements so far
	owner string // sessionId of all elements, from the first one on
	next  int64  // records only: first event of the next segment
}

// listDigest is the digest and length of a list, computed or stated.
type listDigest struct {
	// found reports that this side has made its statement.
	found bool
	sum   reference
	bytes int64
}

// lineMax bounds an event or a record without its newline, as manifest.DecodeSegment does.
const lineMax = limits.LineBytesMax - 1

// event checks that the event just examined may follow; it returns the reason if not, else
// "".
func (l *list) event(sp *parts) string {
	if n, ok := sp.count(indexSlot); !ok || n != l.count {
		return fmt.Sprintf("eventIndex is %s: want %d", brief(sp.Raw(indexSlot)), l.count)
	}
	return l.owned(sp)
}

// record is the same for a manifest record. The segment's digest and the pinning of
// node_created events are checked by manifest.Read.
func (l *list) record(sp *parts) string {
	if n, ok := sp.count(indexSlot); !ok || n != l.count {
		return fmt.Sprintf("manifestIndex is %s: want %d", brief(sp.Raw(indexSlot)), l.count)
	}
	switch {
	// Segments must cover the events without gap or overlap.
	case sp.is(kindSlot, manifest.KindSegmentClosed):
		first, okFirst := sp.count(firstSlot)
		last, okLast := sp.count(lastSlot)
		if !okFirst || !okLast || first != l.next || last < first || last > limits.EventIndexMax {
			return fmt.Sprintf("the segment holds events %s to %s: want it to begin with %d",
				brief(sp.Raw(firstSlot)), brief(sp.Raw(lastSlot)), l.next)
		}
		// Only this name is valid: another path could lead a reader out of the directory.
		want := manifest.SegmentDir + "/" + manifest.SegmentName(first, last)
		if !sp.is(relPathSlot, want) {
			return fmt.Sprintf("segmentRelPath is %s: want %q", brief(sp.Raw(relPathSlot)), want)
		}
		// An append writes far less; a reader keeps the events of a segment in memory.
		if n, ok := sp.count(bytesSlot); !ok || n > limits.BundleSegmentBytesMax {
			return fmt.Sprintf("bytes of the segment is %s: want at most %d", brief(sp.Raw(bytesSlot)),
				limits.BundleSegmentBytesMax)
		}
		l.next = last + 1
	// A snapshot is pinned after the segment that contains its event.
	case sp.is(kindSlot, manifest.KindSnapshotPinned):
		if n, ok := sp.count(createdIndexSlot); !ok || n >= l.next {
			return fmt.Sprintf("a snapshot is pinned for event %s, and no segment before holds it",
				brief(sp.Raw(createdIndexSlot)))
		}
	}
	return l.owned(sp)
}

// owned checks that all elements of a list have one sessionId.
func (l *list) owned(sp *parts) string {
	text, _ := sp.string(ownerSlot)
	// The first element determines the owner; checkOrder compares it with the session.
	if l.owner == "" {
		l.owner = string(text)
	}
	if len(text) == 0 || string(text) != l.owner {
		return fmt.Sprintf("sessionId is %s: want %q", brief(sp.Raw(ownerSlot)), l.owner)
	}
	return ""
}

// brief shortens a value for a message.
func brief(raw []byte) string {
	const most = 80
	switch {
	case len(raw) == 0:
		return "missing"
	// Content of a bundle can be hostile, and messages are logged.
	case len(raw) > most:
		return fmt.Sprintf("%.*q and more", most, raw)
	}
	return string(raw)
}
