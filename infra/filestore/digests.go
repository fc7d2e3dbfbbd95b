package filestore

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
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Digests = (*Store)(nil)

// Digests implements ports.Digests. Damage is confirmed by a second reading under the shared lock,
// as in Read.
func (s *Store) Digests(ctx context.Context, log manifest.Log,
	visit func() ports.DigestVisitor) (manifest.Verdict, error) {
	st, err := s.state()
	if err != nil {
		return manifest.Verdict{}, err
	}
	verdict, err := s.digestsOnce(ctx, log, visit(), st.foreign)
	if err != nil || !verdict.Damaged() {
		return verdict, readFault(err)
	}
	held, err := s.locks.Acquire(ctx, lockName(log), lock.SharedIfExists, s.o.LockWait)
	if err != nil {
		return verdict, s.busyLogFault(err, log)
	}
	defer held.Unlock() // no writer is active now; see Read
	verdict, err = s.digestsOnce(ctx, log, visit(), st.foreign)
	return verdict, readFault(err)
}

// digestsOnce verifies a log once. Segments are hashed while they are read, and the modes of their
// files are reported here, since InspectWithObjects omits them.
//
// Unlike readOnce it decodes no events, so it is bound by hashing. A segment up to segmentBytesMax
// may be read ahead of its group.
func (s *Store) digestsOnce(ctx context.Context, log manifest.Log, v ports.DigestVisitor,
	foreign bool) (manifest.Verdict, error) {
	in := manifest.Input{Log: log, Foreign: foreign, Names: s.segmentNames(log), Open: s.openSegment(ctx, log),
		PrefetchBytes: segmentBytesMax}
	var odd findingList
	dir := path.Join(log.Root, manifest.SegmentDir)
	in.Hash = func(name string) (canon.Digest, int64, bool, error) {
		if err := ctx.Err(); err != nil {
			return canon.Digest{}, 0, false, err
		}
		at := within(dir, name)
		raw, n, info, err := s.hashFile(at, segmentBytesMax)
		if err == nil && info.Perm&othersMask != 0 && !foreign {
			odd.find(0, name, manifest.LooseMode, at, looseModeFormat, info.Perm) // InspectWithObjects omits segments
		}
		if errors.Is(err, fs.ErrNotExist) {
			return canon.Digest{}, 0, false, nil
		}
		return canon.DigestOf(raw), n, err == nil, err
	}
	f, err := s.fs.Open(path.Join(log.Root, manifest.FileName), osfs.Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		in.Manifest = io.MultiReader()
	case err != nil:
		return manifest.Verdict{}, err
	default:
		defer f.Close()
		in.Manifest = readerFrom(f, 0)
	}
	verdict, err := manifest.Digests(in, func(pins []canon.Digest, head manifest.Head) error {
		if err := v.Group(pins, head); err != nil {
			return visitError{err}
		}
		return nil
	})
	verdict.Findings = append(verdict.Findings, odd.inOrder()...)
	return verdict, err
}

// LogBytes implements ports.Digests.
func (s *Store) LogBytes(_ context.Context, log manifest.Log) (int64, error) {
	info, _, err := s.stat(path.Join(log.Root, manifest.FileName))
	return info.Size, readFault(err)
}

// hashBuffers are reused between files: no file is held in memory as a whole.
var hashBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

// hashFile hashes a file up to its length at the time of opening, at most limit and one bytes. It
// returns the digest, the number of bytes hashed and the metadata of the opened file.
//
// A file that grows while it is read is hashed up to its old length, as a reader of an append-only
// file requires.
func (s *Store) hashFile(name string, limit int64) (sum [sha256.Size]byte, n int64, info osfs.Info, err error) {
	f, err := s.fs.Open(name, osfs.Read)
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
