package layout

import (
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// ObjectBytesMax bounds the bytes of an object of a kind (docs/design.md#limits).
func ObjectBytesMax(kind manifest.ObjectKind) int {
	if kind == manifest.Snapshot {
		return limits.SnapshotBytesMax
	}
	return limits.ArtifactBytesMax
}

// SegmentBytesMax bounds a segment in bytes: far above what one plan produces, and the most that a
// reader holds in memory of one. A longer file is read up to the limit and one byte, so it never
// matches the digest that attests it; a longer plan is not written.
const SegmentBytesMax = 64 << 20
