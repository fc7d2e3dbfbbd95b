package read

import (
	"context"
	"crypto/sha256"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Digests implements ports.Digests. Damage is confirmed by a second reading under the shared lock,
// as in Read.
//
// Unlike Read it decodes no events, so it is bound by hashing. A segment up to layout.SegmentBytesMax
// may be read ahead of its group.
func (r *Reader) Digests(ctx context.Context, log manifest.Log,
	visit func() ports.DigestVisitor) (manifest.Verdict, error) {
	return r.verify(ctx, ports.ReadRequest{Log: log}, func(in manifest.Input) (manifest.Verdict, error) {
		var loose FindingList
		v := visit()
		in.PrefetchBytes = layout.SegmentBytesMax
		in.Hash = func(name string) (canon.Digest, int64, bool, error) {
			if err := ctx.Err(); err != nil {
				return canon.Digest{}, 0, false, err
			}
			return r.hashSegment(layout.SegmentsDir(log), name, in.Foreign, &loose)
		}
		verdict, err := manifest.Digests(in, func(pins []canon.Digest, head manifest.Head) error {
			return disk.Unchanged(v.Group(pins, head))
		})
		verdict.Findings = append(verdict.Findings, loose.InOrder()...)
		return verdict, err
	})
}

// hashSegment hashes a segment, and reports its mode: InspectWithObjects omits segments.
func (r *Reader) hashSegment(dir, name string, foreign bool, loose *FindingList) (canon.Digest, int64, bool, error) {
	at := layout.Within(dir, name)
	sum, n, info, err := HashFile(r.d, at, layout.SegmentBytesMax)
	if err == nil && !foreign {
		loose.CheckMode(name, at, info)
	}
	return canon.DigestOf(sum), n, err == nil, disk.UnlessMissing(err)
}

// LogBytes implements ports.Digests.
func (r *Reader) LogBytes(_ context.Context, log manifest.Log) (int64, error) {
	info, _, err := r.d.Lookup(layout.ManifestPath(log))
	return info.Size, disk.ReadFault(err)
}

// HashFile hashes a file up to its length at the time of opening. It returns the digest, the number
// of bytes hashed and the metadata of the opened file. A file longer than limit is not read, and has
// the zero digest, which no file has that is recorded.
//
// A file that grows while it is read is hashed up to its old length, as a reader of an append-only
// file requires.
func HashFile(d *disk.Disk, name string, limit int64) (sum [sha256.Size]byte, n int64, info osfs.Info, err error) {
	f, err := d.Open(name, osfs.Read)
	if err != nil {
		return sum, 0, info, err
	}
	defer f.Close()
	if info, err = osfs.InfoAtOpen(f); err == nil && info.Size <= limit {
		sum, n, err = disk.Hash(f, info.Size)
	}
	return sum, n, info, err
}
