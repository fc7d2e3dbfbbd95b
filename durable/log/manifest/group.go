package manifest

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
)

// The record kinds of the manifest, and the version of its records.
const (
	KindSegmentClosed  = "segment_closed"
	KindSnapshotPinned = "snapshot_pinned"
	RecordVersion      = 1
)

// SegmentClosed is the manifest record that attests a segment: its events, bytes and digest. Pins
// and Prev are additive (docs/design.md#lines-and-files): Pins is the number of pin lines that
// follow, Prev the digest of the preceding group.
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

// SnapshotPinned is the manifest record of a snapshot that an event of the segment refers to. With
// it, the snapshots of a log are known without reading its events.
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

// Group returns the manifest lines that commit seg after head. It is a pure function: a reader
// computes the group of a segment again and compares it with the manifest, also with a torn tail
// (docs/design.md#log-tail). So its bytes must not change.
func Group(log Log, head Head, seg Segment) []byte {
	return appendGroup(nil, log, head, attest(seg), seg.pins(), true)
}

// attestation is what a group states of its segment.
type attestation struct {
	span
	bytes int64
	sum   canon.Digest
}

// attest returns the attestation of seg.
func attest(seg Segment) attestation {
	return attestation{span{seg.First, seg.Last}, int64(len(seg.Bytes)), canon.Sum(seg.Bytes)}
}

// committed returns the segment with the group that commits it.
func (s Segment) committed(group []byte, a attestation) Segment {
	s.Group, s.Sum, s.Size = group, a.sum, a.bytes
	return s
}

// appendGroup appends the encoding of a group to out; one that is not chained has no members pins and prev
// (docs/decisions/0006-unknown-manifest-members-are-damage.md). The members are written by
// hand, in JCS order: a reader of a long log encodes every line of its manifest again.
func appendGroup(out []byte, log Log, head Head, of attestation, pins []pin, chained bool) []byte {
	owner := appendOwner(nil, log)
	out = slices.Grow(out, 512+len(pins)*384)
	out = appendInt(append(out, '{'), `"bytes":`, of.bytes)
	out = appendInt(out, `,"firstEventIndex":`, of.first)
	out = appendInt(out, `,"kind":"`+KindSegmentClosed+`","lastEventIndex":`, of.last)
	out = appendInt(out, `,"manifestIndex":`, head.NextRecord)
	if chained {
		out = appendInt(out, `,"pins":`, int64(len(pins)))
		if !head.Digest.IsZero() {
			out = append(append(append(out, `,"prev":"`...), head.Digest.String()...), '"')
		}
	}
	out = append(append(append(out, `,"segmentRelPath":"`+SegmentDir+`/`...), of.name()...), '"')
	out = appendRecordEnd(out, owner, log, `"sha256":"`, of.sum)
	for i, p := range pins {
		out = canon.AppendString(append(out, `{"createdByEventId":`...), p.event)
		out = appendInt(out, `,"eventIndex":`, p.index)
		out = appendInt(out, `,"kind":"`+KindSnapshotPinned+`","manifestIndex":`, head.NextRecord+1+int64(i))
		out = appendRecordEnd(out, owner, log, `"snapshotRef":"`, p.ref)
	}
	return out
}

// appendInt appends a member with an integer value; name contains the punctuation before it.
func appendInt(dst []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(dst, name...), n, 10)
}

// appendOwner appends the member sessionId or storeId. A log without an owner has no such member.
func appendOwner(dst []byte, log Log) []byte {
	if log.Owner == "" {
		return dst
	}
	return canon.AppendString(append(append(append(dst, '"'), log.Table.OwnerField...), `":`...), log.Owner)
}

// appendRecordEnd appends a digest and the owner, in JCS order, and the end of the record.
func appendRecordEnd(dst, owner []byte, log Log, name string, d canon.Digest) []byte {
	first := ownerFirst(log, name)
	if first && len(owner) > 0 {
		dst = append(append(dst, ','), owner...)
	}
	dst = append(append(append(append(dst, ','), name...), d.String()...), '"')
	if !first && len(owner) > 0 {
		dst = append(append(dst, ','), owner...)
	}
	return append(strconv.AppendInt(append(dst, `,"v":`...), RecordVersion, 10), "}\n"...)
}

// ownerFirst reports whether the owner precedes the member name in JCS order.
func ownerFirst(log Log, name string) bool { return log.Table.OwnerField+`"` < name[1:] }

// After returns the head after group, which commits seg, was appended to h.
func (h Head) After(group []byte, seg Segment) Head { return h.after(group, seg.Last) }

// after returns the head after group, which commits the events up to last.
func (h Head) after(group []byte, last int64) Head {
	return Head{
		Digest: canon.Sum(group), GroupAt: h.Bytes, Bytes: h.Bytes + int64(len(group)),
		Next: last + 1, NextRecord: h.NextRecord + int64(bytes.Count(group, []byte{'\n'})),
	}
}
