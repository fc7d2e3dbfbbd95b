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
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Digests = (*Store)(nil)

// Digests implements ports.Digests.
func (s *Store) Digests(ctx context.Context, log manifest.Log, v ports.DigestVisitor) (manifest.Verdict, error) {
	st, err := s.standing()
	if err != nil {
		return manifest.Verdict{}, err
	}
	verdict, err := s.digestsOnce(ctx, log, v, st.foreign)
	if err != nil || !verdict.Damaged() {
		return verdict, readFault(err)
	}
	held, err := s.locks.Acquire(ctx, lockName(log), lock.SharedIfThere, s.o.LockWait)
	if err != nil {
		return verdict, s.busyLog(err, log)
	}
	defer held.Unlock() // no writer is at work now; see Read
	v.Reset()
	verdict, err = s.digestsOnce(ctx, log, v, st.foreign)
	return verdict, readFault(err)
}

func (s *Store) digestsOnce(ctx context.Context, log manifest.Log, v ports.DigestVisitor, foreign bool) (manifest.Verdict, error) {
	in := manifest.Input{Log: log, Foreign: foreign, Names: s.segmentNames(log), Open: s.openSegment(ctx, log), Ahead: segmentBytesMax}
	in.Hash = func(name string) (canon.Digest, int64, bool, error) {
		if err := ctx.Err(); err != nil {
			return canon.Digest{}, 0, false, err
		}
		sum, n, _, err := s.hashFile(path.Join(log.Root, manifest.SegmentDir, name), segmentBytesMax)
		if errors.Is(err, fs.ErrNotExist) {
			return canon.Digest{}, 0, false, nil
		}
		return sum, n, err == nil, err
	}
	f, err := s.fs.Open(path.Join(log.Root, manifest.FileName), osfs.Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		in.Manifest = io.MultiReader()
	case err != nil:
		return manifest.Verdict{}, err
	default:
		defer f.Close()
		in.Manifest = from(f, 0)
	}
	return manifest.Digests(in, func(pins []canon.Digest, head manifest.Head) error {
		if err := v.Group(pins, head); err != nil {
			return visitError{err}
		}
		return nil
	})
}

// LogBytes implements ports.Digests.
func (s *Store) LogBytes(_ context.Context, log manifest.Log) (int64, error) {
	info, _, err := s.stat(path.Join(log.Root, manifest.FileName))
	return info.Size, readFault(err)
}

// hashBuffers are what files pass through to be summed up: none is held whole.
var hashBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

// hashFile sums up a file, of which at most limit bytes and one are read, and tells
// about it.
func (s *Store) hashFile(name string, limit int64) (sum canon.Digest, n int64, info osfs.Info, err error) {
	f, err := s.fs.Open(name, osfs.Read)
	if err != nil {
		return sum, 0, info, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return sum, 0, info, err
	}
	buffer := hashBuffers.Get().(*[]byte)
	defer hashBuffers.Put(buffer)
	size := min(info.Size, limit+1)
	if size <= int64(len(*buffer)) {
		k, err := f.ReadAt((*buffer)[:size], 0)
		if int64(k) < size && err != nil && !errors.Is(err, io.EOF) {
			return sum, 0, info, err
		}
		return canon.Sum((*buffer)[:k]), int64(k), info, nil
	}
	h := sha256.New()
	for n < size {
		part := (*buffer)[:min(int64(len(*buffer)), size-n)]
		k, err := f.ReadAt(part, n)
		h.Write(part[:k])
		n += int64(k)
		if k < len(part) {
			if err != nil && !errors.Is(err, io.EOF) {
				return sum, n, info, err
			}
			break
		}
	}
	return canon.DigestOf([sha256.Size]byte(h.Sum(nil))), n, info, nil
}
