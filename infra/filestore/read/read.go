package read

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// readAheadBytes is how much of a long log is read before its turn, in bytes: three segments of
// five thousand events, or many segments of one event.
const readAheadBytes = 6 << 20

// Read implements ports.Logs. Readers take no lock. While a writer is active a reader can meet an
// uncommitted tail, or, when the tail is cut during the read, bytes that look like damage. Damage
// is therefore confirmed by a second reading under the shared lock, and reported only if it is
// still there (docs/design.md#reading). Errors are STORE_IO, INTERRUPTED, a busy lock during the
// second reading, or the visitor's own error; what is wrong with the bytes is in the verdict.
//
// A log that does not exist is empty and healthy. When r.From is not on the log's chain the error
// is manifest.ErrNotOnChain, and the caller reads from the zero head.
func (s *Reader) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	st, err := s.d.State()
	if err != nil {
		return manifest.Verdict{}, err
	}
	verdict, err := s.readOnce(ctx, r, visit(r.From), st.Foreign)
	if err != nil || !verdict.Damaged() || r.Locked {
		return verdict, disk.ReadFault(err)
	}
	held, err := s.d.Locks.Acquire(ctx, layout.LockName(r.Log), lock.SharedIfExists, s.d.LockWait)
	if err != nil {
		return verdict, s.d.BusyLogFault(err, r.Log)
	}
	// No writer is active now. Everything is read again, not only the damaged part: a tail that was
	// cut and overwritten may have changed where groups begin.
	defer held.Unlock()
	r.From = manifest.Head{}
	verdict, err = s.readOnce(ctx, r, visit(r.From), st.Foreign)
	return verdict, disk.ReadFault(err)
}

// readOnce verifies a log once, without a lock.
func (s *Reader) readOnce(ctx context.Context, r ports.ReadRequest, v ports.Visitor, foreign bool) (manifest.Verdict,
	error) {
	in := manifest.Input{Log: r.Log, From: r.From, Foreign: foreign, Names: s.SegmentNames(r.Log),
		Open: s.OpenSegment(ctx, r.Log)}
	f, err := s.d.Open(path.Join(r.Log.Root, manifest.FileName), osfs.Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// An empty log, or one that lost its manifest: the segments decide which.
		in.Manifest = io.MultiReader()
	case err != nil:
		return manifest.Verdict{}, err
	default:
		defer f.Close()
		in.Manifest = ReaderFrom(f, r.From.GroupAt)
	}
	if r.From.IsZero() {
		in.PrefetchBytes = readAheadBytes
	}
	verdict, err := manifest.Read(in, func(seg manifest.Segment, head manifest.Head) error {
		return disk.Unchanged(v.Visit(seg, head))
	})
	return verdict, err
}

// ReaderFrom reads a file from the offset at to its end at the time of reading.
func ReaderFrom(f osfs.File, at int64) io.Reader { return io.NewSectionReader(f, at, math.MaxInt64-at) }

// SegmentNames lists the segment directory of a log. A missing directory is empty: the first append
// creates it.
func (r *Reader) SegmentNames(log manifest.Log) func() ([]string, error) {
	return func() ([]string, error) {
		entries, err := r.d.List(path.Join(log.Root, manifest.SegmentDir))
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

// OpenSegment reads a whole segment: its digest covers all of it, and none of it may be used before
// the digest was checked. It returns false for a segment that does not exist.
func (r *Reader) OpenSegment(ctx context.Context, log manifest.Log) func(string) ([]byte, bool, error) {
	return func(name string) ([]byte, bool, error) {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		b, err := r.d.ReadFile(path.Join(log.Root, manifest.SegmentDir, name), layout.SegmentBytesMax)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return b, err == nil, err
	}
}
