package filestore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// segmentBytesMax is far above any segment that one plan makes, and what a reader
// holds in memory of one. A longer file is read that far and no further, and so
// never fits what attests it; a longer plan is not written.
const segmentBytesMax = 64 << 20

// aheadBytes is how much of a long log is read before its turn: three segments of five
// thousand events, or many of one append.
const aheadBytes = 6 << 20

// Read implements ports.Logs. Readers take no lock: what they can meet of a
// writer at work is an uncommitted tail, or, when that is cut under their eyes,
// something that looks like damage. Only damage that is still there while nobody
// writes is damage (R8).
func (s *Store) Read(ctx context.Context, r ports.Reading, v ports.Visitor) (manifest.Verdict, error) {
	st, err := s.standing()
	if err != nil {
		return manifest.Verdict{}, err
	}
	verdict, err := s.readOnce(ctx, r, v, st.foreign)
	if err != nil || !verdict.Damaged() || r.Locked {
		return verdict, readFault(err)
	}
	held, err := s.locks.Acquire(ctx, lockName(r.Log), lock.SharedIfThere, s.o.LockWait)
	if err != nil {
		return verdict, s.busyLog(err, r.Log)
	}
	// No writer is at work now. Everything is read again, not only what was odd: a
	// tail that was cut and overwritten may have changed where groups begin.
	defer held.Unlock()
	v.Reset()
	r.From = manifest.Head{} // the visitor forgot what came before it
	verdict, err = s.readOnce(ctx, r, v, st.foreign)
	return verdict, readFault(err)
}

func (s *Store) readOnce(ctx context.Context, r ports.Reading, v ports.Visitor, foreign bool) (manifest.Verdict,
	error) {
	in := manifest.Input{Log: r.Log, From: r.From, Foreign: foreign, Names: s.segmentNames(r.Log),
		Open: s.openSegment(ctx, r.Log)}
	f, err := s.fs.Open(path.Join(r.Log.Root, manifest.FileName), osfs.Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// An empty log, or one that lost its manifest: the segments will tell.
		in.Manifest = io.MultiReader()
	case err != nil:
		return manifest.Verdict{}, err
	default:
		defer f.Close()
		in.Manifest = from(f, r.From.GroupAt)
	}
	if r.From.IsZero() {
		in.Ahead = aheadBytes
	}
	verdict, err := manifest.Read(in, func(seg manifest.Segment, head manifest.Head) error {
		if err := v.Visit(seg, head); err != nil {
			return visitError{err}
		}
		return nil
	})
	return verdict, err
}

// visitError carries a visitor's own error past the mapping of the disk's.
type visitError struct{ error }

// from reads a file from an offset to wherever it ends at that moment.
func from(f osfs.File, at int64) io.Reader { return io.NewSectionReader(f, at, math.MaxInt64-at) }

// segmentNames lists the folder of a log's segments; one that is not there is
// empty, since the first append makes it.
func (s *Store) segmentNames(log manifest.Log) func() ([]string, error) {
	return func() ([]string, error) {
		entries, err := s.fs.List(path.Join(log.Root, manifest.SegmentDir))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name
		}
		return names, err
	}
}

// openSegment reads a segment whole: its digest covers all of it, and nothing of it
// may be believed before that was computed.
func (s *Store) openSegment(ctx context.Context, log manifest.Log) func(string) ([]byte, bool, error) {
	return func(name string) ([]byte, bool, error) {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		b, err := s.readFile(path.Join(log.Root, manifest.SegmentDir, name), segmentBytesMax)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return b, err == nil, err
	}
}
