package manifest

import (
	"bytes"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
)

// The record kinds of the control stream (locks section 1), and its version.
const (
	KindSegmentClosed  = "segment_closed"
	KindSnapshotPinned = "snapshot_pinned"
	RecordVersion      = 1
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

// Group is the one spelling of the manifest lines that commit seg after head:
// the pure function that a torn tail is compared with (R9).
func Group(log Log, head Head, seg Segment) []byte {
	return appendGroup(log, head, seg, canon.Sum(seg.Bytes), seg.pins(), true)
}

// appendGroup writes chained groups, and plain ones (without pins and prev) as the
// locks alone would have them. The members are written by hand: a reader of a long log
// spells every line of its manifest again.
func appendGroup(log Log, head Head, seg Segment, sum canon.Digest, pins []pin, chained bool) []byte {
	owner := appendOwner(nil, log)
	out := make([]byte, 0, 512+len(pins)*384)
	out = appendInt(append(out, '{'), `"bytes":`, int64(len(seg.Bytes)))
	out = appendInt(out, `,"firstEventIndex":`, seg.First)
	out = appendInt(out, `,"kind":"`+KindSegmentClosed+`","lastEventIndex":`, seg.Last)
	out = appendInt(out, `,"manifestIndex":`, head.NextRecord)
	if chained {
		out = appendInt(out, `,"pins":`, int64(len(pins)))
		if !head.Digest.IsZero() {
			out = append(append(append(out, `,"prev":"`...), head.Digest.String()...), '"')
		}
	}
	out = append(append(append(out, `,"segmentRelPath":"`+SegmentDir+`/`...), seg.Name()...), '"')
	out = endRecord(out, owner, log, `"sha256":"`, sum)
	for i, p := range pins {
		out = canon.AppendString(append(out, `{"createdByEventId":`...), p.event)
		out = appendInt(out, `,"eventIndex":`, p.index)
		out = appendInt(out, `,"kind":"`+KindSnapshotPinned+`","manifestIndex":`, head.NextRecord+1+int64(i))
		out = endRecord(out, owner, log, `"snapshotRef":"`, p.ref)
	}
	return out
}

func appendInt(dst []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(dst, name...), n, 10)
}

// appendOwner writes the member that says whose log it is; nobody has an empty name.
func appendOwner(dst []byte, log Log) []byte {
	if log.Owner == "" {
		return dst
	}
	return canon.AppendString(append(append(append(dst, '"'), log.Table.OwnerField...), `":`...), log.Owner)
}

// endRecord writes a digest beside the owner, in JCS order, and the end.
func endRecord(dst, owner []byte, log Log, name string, d canon.Digest) []byte {
	inFront := ownerInFront(log, name)
	if inFront && len(owner) > 0 {
		dst = append(append(dst, ','), owner...)
	}
	dst = append(append(append(append(dst, ','), name...), d.String()...), '"')
	if !inFront && len(owner) > 0 {
		dst = append(append(dst, ','), owner...)
	}
	return append(strconv.AppendInt(append(dst, `,"v":`...), RecordVersion, 10), "}\n"...)
}

// ownerInFront is the order of two members.
func ownerInFront(log Log, name string) bool { return log.Table.OwnerField+`"` < name[1:] }

// After is the head once group, which commits seg, stands behind h.
func (h Head) After(group []byte, seg Segment) Head {
	return Head{
		Digest: canon.Sum(group), GroupAt: h.Bytes, Bytes: h.Bytes + int64(len(group)),
		Next: seg.Last + 1, NextRecord: h.NextRecord + int64(bytes.Count(group, []byte{'\n'})),
	}
}
