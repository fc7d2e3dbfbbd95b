package read

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
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
// A log that does not exist is empty and healthy. When req.From is not on the log's chain the error
// is manifest.ErrNotOnChain, and the caller reads from the zero head.
func (r *Reader) Read(ctx context.Context, req ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	defer ports.Enter(ctx, ports.Reading)()
	return r.verify(ctx, req, func(in manifest.Input) (manifest.Verdict, error) {
		if in.From.IsZero() {
			in.PrefetchBytes = readAheadBytes
		}
		v := visit(in.From)
		return manifest.Read(in, func(seg manifest.Segment, head manifest.Head) error {
			return disk.Unchanged(v.Visit(seg, head))
		})
	})
}

// verify runs a verification of the bytes of a log, and from the beginning once more when it finds damage.
func (r *Reader) verify(ctx context.Context, req ports.ReadRequest,
	run func(manifest.Input) (manifest.Verdict, error)) (manifest.Verdict, error) {
	st, err := r.d.State()
	if err != nil {
		return manifest.Verdict{}, err
	}
	verdict, err := r.verifyOnce(ctx, req, st.Foreign, run)
	if err != nil || !verdict.Damaged() || req.Locked {
		return verdict, disk.ReadFault(err)
	}
	// Everything is read again, not only the damaged part: a tail that was cut and overwritten may
	// have changed where groups begin.
	req.From = manifest.Head{}
	err = r.WithoutChanges(ctx, req.Log, func() (err error) {
		verdict, err = r.verifyOnce(ctx, req, st.Foreign, run)
		return err
	})
	return verdict, disk.ReadFault(err)
}

// verifyOnce opens the manifest of a log and verifies it, without a lock.
func (r *Reader) verifyOnce(ctx context.Context, req ports.ReadRequest, foreign bool,
	run func(manifest.Input) (manifest.Verdict, error)) (manifest.Verdict, error) {
	in := Input(ctx, r.d, req.Log)
	in.From, in.Trusted, in.TrustedEvents, in.Foreign = req.From, req.Trusted, req.TrustedEvents, foreign
	in.Ahead = req.Ahead
	if in.TrustedEvents {
		in.Open, in.OpenTrusted, in.Release = openInto(ctx, r.d, req.Log)
		defer disk.KeepDirs(r.d)()
	}
	f, err := r.d.Open(layout.ManifestPath(req.Log), osfs.Read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// An empty log, or one that lost its manifest: the segments decide which.
		in.Manifest = io.MultiReader()
		names := in.Names
		in.Names = func() ([]string, error) {
			all, err := names()
			if _, exists, lookupErr := r.d.Lookup(layout.ManifestPath(req.Log)); err == nil && exists {
				// The whole log was moved in since: its segments are not those of a log without manifest.
				return nil, lookupErr
			}
			return all, err
		}
	case err != nil:
		return manifest.Verdict{}, err
	default:
		defer f.Close()
		in.Manifest = disk.ReaderFrom(f, req.From.GroupAt)
	}
	return run(in)
}

// Input is what a verification reads of a log beside its manifest. A segment is read as a whole: its digest covers all
// of it, and none of it may be used before the digest was checked.
func Input(ctx context.Context, d *disk.Disk, log manifest.Log) manifest.Input {
	dir := layout.SegmentsDir(log)
	return manifest.Input{
		Log:     log,
		Names:   func() ([]string, error) { return SegmentNames(d, log) },
		Open:    func(name string) ([]byte, bool, error) { return open(ctx, d, dir, name, nil) },
		Pending: func() (int64, bool) { return PendingExtension(d, log) },
	}
}

// openInto returns an Input.Open and an Input.OpenTrusted that read into buffers, and the Input.Release that makes them free
// again.
func openInto(ctx context.Context, d *disk.Disk, log manifest.Log) (whole, trusted func(string) ([]byte, bool, error),
	release func([]byte)) {
	dir := layout.SegmentsDir(log)
	free := make(chan []byte, runtime.GOMAXPROCS(0)) // one for each reader of segments
	buffer := func() []byte {
		select {
		case b := <-free:
			return b[:cap(b)]
		default:
			return make([]byte, segmentBuffer)
		}
	}
	whole = func(name string) ([]byte, bool, error) { return open(ctx, d, dir, name, buffer()) }
	trusted = func(name string) ([]byte, bool, error) {
		b := buffer()
		if ctx.Err() == nil {
			if n, ok := disk.ReadStart(d, layout.Within(dir, name), b); ok && n < len(b) {
				return b[:n], true, nil
			}
		}
		return open(ctx, d, dir, name, b)
	}
	release = func(b []byte) {
		select {
		case free <- b:
		default:
		}
	}
	return whole, trusted, release
}

// segmentBuffer is the least length of a buffer for segments, which suffices for most.
const segmentBuffer = 32 << 10

// open reads a segment of a directory, into the memory of b if it suffices.
func open(ctx context.Context, d *disk.Disk, dir, name string, b []byte) ([]byte, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	// One that is too long is not read: no bytes, which are no segment.
	b, _, err := d.ReadInto(b, layout.Within(dir, name), layout.SegmentBytesMax)
	return b, err == nil, disk.UnlessMissing(err)
}

// PendingExtension returns how many events a log had when an import began to extend it, if the session's import mark
// states that one is in progress. An unreadable mark states nothing.
func PendingExtension(d *disk.Disk, log manifest.Log) (next int64, ok bool) {
	name, ok := layout.ImportMark(log)
	if !ok {
		return 0, false
	}
	doc, ok, err := d.ReadControl(name, ports.ImportedFile.Kind)
	if err != nil || !ok || doc.V != imported.Version {
		return 0, false
	}
	mark, err := imported.Read(doc.Data)
	if err != nil {
		return 0, false
	}
	next, ok = mark.Pending[log.Table.Name]
	return next, ok
}

// SegmentNames lists the segment directory of a log. A missing directory is empty: the first append
// creates it.
func SegmentNames(d *disk.Disk, log manifest.Log) ([]string, error) {
	entries, err := d.Entries(layout.SegmentsDir(log))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names, err
}
