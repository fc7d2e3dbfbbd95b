package manifest

import (
	"bytes"

	"github.com/waybill/waybill/durable/canon"
)

// The record kinds of the control stream (locks section 1), and its version.
const (
	KindSegmentClosed  = "segment_closed"
	KindSnapshotPinned = "snapshot_pinned"
	recordVersion      = 1
)

// SegmentClosed attests a segment. Pins and Prev are additive (R4): Pins counts
// the pin lines that follow, Prev chains to the preceding group.
type SegmentClosed struct {
	Bytes           int64        `json:"bytes"`
	FirstEventIndex int64        `json:"firstEventIndex"`
	Kind            string       `json:"kind"`
	LastEventIndex  int64        `json:"lastEventIndex"`
	ManifestIndex   int64        `json:"manifestIndex"`
	Pins            *int64       `json:"pins,omitzero"`
	Prev            canon.Digest `json:"prev,omitzero"` // absent in the first group
	SegmentRelPath  string       `json:"segmentRelPath"`
	SessionID       string       `json:"sessionId,omitzero"`
	SHA256          canon.Digest `json:"sha256"`
	StoreID         string       `json:"storeId,omitzero"`
	V               int64        `json:"v"`
}

// SnapshotPinned makes a snapshot reachable without reading events.
type SnapshotPinned struct {
	CreatedByEventID string       `json:"createdByEventId"` // as the event spells it
	EventIndex       int64        `json:"eventIndex"`
	Kind             string       `json:"kind"`
	ManifestIndex    int64        `json:"manifestIndex"`
	SessionID        string       `json:"sessionId,omitzero"`
	SnapshotRef      canon.Digest `json:"snapshotRef"`
	StoreID          string       `json:"storeId,omitzero"`
	V                int64        `json:"v"`
}

// owners splits the owner into the two fields of which a log uses one.
func (l Log) owners() (sessionID, storeID string) {
	if l.Table.OwnerField == "storeId" {
		return "", l.Owner
	}
	return l.Owner, ""
}

// Group is the one spelling of the manifest lines that commit seg after head:
// the pure function that a torn tail is compared with (R9).
func Group(log Log, head Head, seg Segment) []byte {
	return appendGroup(log, head, seg, seg.pins(), true)
}

// appendGroup writes chained groups, and plain ones (without pins and prev) as
// the locks alone would have them.
func appendGroup(log Log, head Head, seg Segment, pins []pin, chained bool) []byte {
	sessionID, storeID := log.owners()
	closed := SegmentClosed{
		Bytes: int64(len(seg.Bytes)), FirstEventIndex: seg.First, Kind: KindSegmentClosed,
		LastEventIndex: seg.Last, ManifestIndex: head.NextRecord,
		SegmentRelPath: SegmentDir + "/" + seg.Name(), SessionID: sessionID,
		SHA256: canon.Sum(seg.Bytes), StoreID: storeID, V: recordVersion,
	}
	if chained {
		count := int64(len(pins))
		closed.Pins, closed.Prev = &count, head.Digest
	}
	out := mustAppend(nil, closed)
	for i, p := range pins {
		out = mustAppend(out, SnapshotPinned{
			CreatedByEventID: p.event, EventIndex: p.index, Kind: KindSnapshotPinned,
			ManifestIndex: head.NextRecord + 1 + int64(i), SessionID: sessionID,
			SnapshotRef: p.ref, StoreID: storeID, V: recordVersion,
		})
	}
	return out
}

// mustAppend panics only where a record of ours cannot be spelled, which its
// types rule out.
func mustAppend(dst []byte, record any) []byte {
	out, err := canon.Append(dst, record)
	if err != nil {
		panic("manifest: " + err.Error())
	}
	return append(out, '\n')
}

// After is the head once group, which commits seg, stands behind h.
func (h Head) After(group []byte, seg Segment) Head {
	return Head{
		Digest: canon.Sum(group), GroupAt: h.Bytes, Bytes: h.Bytes + int64(len(group)),
		Next: seg.Last + 1, NextRecord: h.NextRecord + int64(bytes.Count(group, []byte{'\n'})),
	}
}
