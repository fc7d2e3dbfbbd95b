package read

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Digests implements ports.Digests. Damage is confirmed by a second reading under the shared lock,
// as in Read.
func (r *Reader) Digests(ctx context.Context, log manifest.Log,
	visit func() ports.DigestVisitor) (manifest.Verdict, error) {
	st, err := r.d.State()
	if err != nil {
		return manifest.Verdict{}, err
	}
	verdict, err := r.digestsOnce(ctx, log, visit(), st.Foreign)
	if err != nil || !verdict.Damaged() {
		return verdict, disk.ReadFault(err)
	}
	held, err := r.d.Locks.Acquire(ctx, layout.LockName(log), lock.SharedIfExists, r.d.LockWait)
	if err != nil {
		return verdict, r.d.BusyLogFault(err, log)
	}
	defer held.Unlock() // no writer is active now; see Read
	verdict, err = r.digestsOnce(ctx, log, visit(), st.Foreign)
	return verdict, disk.ReadFault(err)
}

// digestsOnce verifies a log once. Segments are hashed while they are read, and the modes of their
// files are reported here, since InspectWithObjects omits them.
//
// Unlike readOnce it decodes no events, so it is bound by hashing. A segment up to segmentBytesMax
// may be read ahead of its group.
func (r *Reader) digestsOnce(ctx context.Context, log manifest.Log, v ports.DigestVisitor,
	foreign bool) (manifest.Verdict, error) {
	in := manifest.Input{Log: log, Foreign: foreign, Names: r.SegmentNames(log), Open: r.OpenSegment(ctx, log),
		PrefetchBytes: layout.SegmentBytesMax}
	var odd FindingList
	dir := path.Join(log.Root, manifest.SegmentDir)
	in.Hash = func(name string) (canon.Digest, int64, bool, error) {
		if err := ctx.Err(); err != nil {
			return canon.Digest{}, 0, false, err
		}
		at := layout.Within(dir, name)
		raw, n, info, err := r.HashFile(at, layout.SegmentBytesMax)
		if err == nil && info.Perm&OthersMask != 0 && !foreign {
			odd.Find(0, name, manifest.LooseMode, at, LooseModeFormat, info.Perm) // InspectWithObjects omits segments
		}
		if errors.Is(err, fs.ErrNotExist) {
			return canon.Digest{}, 0, false, nil
		}
		return canon.DigestOf(raw), n, err == nil, err
	}
	f, err := r.d.Open(path.Join(log.Root, manifest.FileName), osfs.Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		in.Manifest = io.MultiReader()
	case err != nil:
		return manifest.Verdict{}, err
	default:
		defer f.Close()
		in.Manifest = ReaderFrom(f, 0)
	}
	verdict, err := manifest.Digests(in, func(pins []canon.Digest, head manifest.Head) error {
		return disk.Unchanged(v.Group(pins, head))
	})
	verdict.Findings = append(verdict.Findings, odd.InOrder()...)
	return verdict, err
}

// LogBytes implements ports.Digests.
func (r *Reader) LogBytes(_ context.Context, log manifest.Log) (int64, error) {
	info, _, err := r.d.Lookup(path.Join(log.Root, manifest.FileName))
	return info.Size, disk.ReadFault(err)
}

// hashBuffers are reused between files: no file is held in memory as a whole.
var hashBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

// HashFile hashes a file up to its length at the time of opening, at most limit and one bytes. It
// returns the digest, the number of bytes hashed and the metadata of the opened file.
//
// A file that grows while it is read is hashed up to its old length, as a reader of an append-only
// file requires.
func (r *Reader) HashFile(name string, limit int64) (sum [sha256.Size]byte, n int64, info osfs.Info, err error) {
	f, err := r.d.Open(name, osfs.Read)
	if err != nil {
		return sum, 0, info, err
	}
	defer f.Close()
	if info, err = osfs.InfoAtOpen(f); err != nil {
		return sum, 0, info, err
	}
	sum, n, err = hashContent(f, min(info.Size, limit+1))
	return sum, n, info, err
}

// hashContent hashes at most size bytes of an open file.
func hashContent(f osfs.File, size int64) (sum [sha256.Size]byte, n int64, err error) {
	buffer := hashBuffers.Get().(*[]byte)
	defer hashBuffers.Put(buffer)
	h := sha256.New()
	for n < size {
		k, err := f.ReadAt((*buffer)[:min(int64(len(*buffer)), size-n)], n)
		if err != nil && !errors.Is(err, io.EOF) {
			return sum, n, err
		}
		h.Write((*buffer)[:k])
		if n += int64(k); k == 0 {
			break
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), n, nil
}
