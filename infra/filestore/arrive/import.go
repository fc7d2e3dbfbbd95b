package arrive

import (
	"bufio"
	"context"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// arrival is the import of one session. Its files are staged in a directory in sessions/ whose name
// readers ignore; Commit renames that directory to the session's, which makes everything visible at
// once. Objects are placed as they come, like those of an append. It is used by one goroutine.
//
// What a crash leaves: before the rename a staged directory and objects without references, which
// gc removes; after it the session with its arrival marks, which the next writer or reader that
// acknowledges something resolves with finishArrival.
type arrival struct {
	d       *disk.Disk
	read    *read.Reader
	session id.Session
	use     *lock.Held // shared, which keeps cleanups away from the objects
	dir     string     // the staged directory; "" once End must not remove it
	logs    []string   // directories of its logs, relative to dir; "" is the session's own

	manifest osfs.File // of the log that received the last segment; one is open at a time
	groups   *bufio.Writer
	openLog  string // name of the log whose manifest is open
	// prefix writes what a log has already to its new manifest; nil for a session that is new.
	prefix func(log string) error

	unflushed  []*disk.Staged // written and not yet synced
	relied     disk.Relied    // objects that must be durable before the commit
	objectDirs []string       // directories of the objects that the commit relies on

	// unsynced: an earlier import did not finish, and it is unknown whether a sync of the objects
	// that it stored failed (docs/design.md#failed-sync). Objects that exist already are rewritten.
	unsynced   bool
	keepStaged bool  // the staged directory is kept, which makes the next import unsynced
	failed     error // the first error: every later call returns it
	ended      bool  // committed or ended
}

// errArrivalEnded reports a call after Commit or End: a bug of the caller.
var errArrivalEnded = fault.New(fault.Internal, "the import has ended")

// BeginImport implements ports.SessionImporter. It creates a missing store. A cleanup in progress is
// STORE_LOCKED.
func (m *Importer) BeginImport(ctx context.Context, session id.Session) (ports.SessionImport, error) {
	use, err := m.d.LockToWrite(ctx, lock.Shared)
	if err != nil {
		return nil, err
	}
	a := &arrival{d: m.d, read: m.read, session: session, use: use}
	if a.unsynced, err = m.unfinished(); err == nil {
		a.dir, err = m.d.TempName("sessions")
	}
	if err == nil {
		_, err = m.d.Mkdirs(a.dir)
	}
	if err != nil {
		_ = use.Unlock()
		return nil, disk.WriteFault(err)
	}
	return a, nil
}

// unfinished reports an import that is in progress, or whose process stopped before its end.
func (m *Importer) unfinished() (bool, error) {
	entries, err := m.d.Entries("sessions")
	return slices.ContainsFunc(entries, func(e osfs.Entry) bool {
		return e.Kind == osfs.Directory && layout.IsTemp(e.Name)
	}), err
}

// do performs one call. After a failed sync no later sync proves anything
// (docs/design.md#failed-sync), and a session with a missing part would be another session: the
// first error is returned by every later call.
//
// Errors are mapped by disk.WriteFault; an error of the caller's reader is returned unchanged.
func (a *arrival) do(ctx context.Context, call func() error) error {
	switch {
	case a.failed != nil:
		return a.failed
	case a.ended:
		return errArrivalEnded
	}
	err := ctx.Err()
	if err == nil {
		err = call()
	}
	a.failed = disk.WriteFault(err)
	return a.failed
}

// Segment implements ports.SessionImport. A segment above layout.SegmentBytesMax is STORE_LIMIT.
//
// log is "" for the session's own log, else the name of a side log. Segments of one log must be
// passed in order, since their groups are appended to its manifest as they come.
func (a *arrival) Segment(ctx context.Context, log string, seg manifest.Segment) error {
	return a.do(ctx, func() error {
		if _, _, ok := manifest.ParseSegmentName(seg.Name()); !ok || len(seg.Group) == 0 || log != "" &&
			!bundle.ValidLogName(log) {
			return fault.New(fault.Internal, "events %d to %d of log %q cannot be imported", seg.First, seg.Last, log)
		}
		if n := len(seg.Bytes); n > layout.SegmentBytesMax {
			return fault.New(fault.StoreLimit, "%s has %d bytes: a store accepts at most %d", seg.Name(), n,
				layout.SegmentBytesMax)
		}
		if err := a.open(log); err != nil {
			return err
		}
		if _, err := a.groups.Write(seg.Group); err != nil {
			return err
		}
		return a.write(path.Join(a.dir, log, manifest.SegmentDir, seg.Name()), disk.Bytes(seg.Bytes))
	})
}

// groupsBuffer is the write buffer of a manifest, in bytes.
const groupsBuffer = 64 << 10

// open makes the manifest of a log the open one, and creates the directories of a new log. Only one
// manifest is open at a time, so the limit of open files does not bound the number of side logs.
func (a *arrival) open(log string) (err error) {
	if a.manifest != nil && a.openLog == log {
		return nil
	}
	if err := a.closeManifest(); err != nil {
		return err
	}
	mode := osfs.Append
	if !slices.Contains(a.logs, log) {
		mode = osfs.New
		if _, err := a.d.Mkdirs(path.Join(a.dir, log, manifest.SegmentDir)); err != nil {
			return err
		}
		a.logs = append(a.logs, log)
	}
	if a.manifest, err = a.d.Open(path.Join(a.dir, log, manifest.FileName), mode); err != nil {
		return err
	}
	a.openLog, a.groups = log, bufio.NewWriterSize(a.manifest, groupsBuffer)
	if mode == osfs.New && a.prefix != nil {
		return a.prefix(log)
	}
	return nil
}

// closeManifest flushes the open manifest and queues it for its sync like every other file.
func (a *arrival) closeManifest() error {
	if a.manifest == nil {
		return nil
	}
	err := a.groups.Flush()
	a.unflushed = append(a.unflushed, &disk.Staged{File: a.manifest})
	a.manifest, a.groups = nil, nil
	return err
}

// Control implements ports.SessionImport. An unknown control file is INTERNAL.
func (a *arrival) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return a.do(ctx, func() error {
		if _, err := layout.SessionControlName(a.session, f); err != nil {
			return err
		}
		doc := controlfile.Document{Kind: f.Kind, V: c.V, Data: c.Data}
		return a.write(path.Join(a.dir, f.Name), disk.Document(doc))
	})
}

// Tombstone implements ports.SessionImport. An existing artifact or tombstone is kept.
func (a *arrival) Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	return a.do(ctx, func() error {
		name := layout.TombstonePath(ref)
		for _, is := range []string{name, layout.ArtifactPath(ref)} {
			if _, exists, err := a.d.Lookup(is); err != nil {
				return err
			} else if exists {
				return a.relyOnExisting(is)
			}
		}
		// A tombstone that another process placed is kept.
		f := &disk.Staged{Name: name, Same: func() (bool, error) { return true, nil }}
		if err := a.stage(f); err != nil {
			return err
		}
		doc := controlfile.Document{Kind: layout.ErasedKind, V: layout.ErasedVersion, Data: data}
		if err := disk.Document(doc)(f); err != nil {
			return err
		}
		return a.flushFull()
	})
}

// End implements ports.SessionImport. It removes staged files and releases the use lock; files that
// cannot be removed are left to a cleanup.
func (a *arrival) End() error {
	if a.use == nil {
		return nil
	}
	a.ended = true
	if a.manifest != nil {
		_ = a.manifest.Close()
		a.manifest = nil
	}
	for _, f := range a.unflushed {
		f.Drop(a.d)
	}
	if a.dir != "" && !a.keepStaged {
		_ = a.d.RemoveAll(a.dir)
	}
	err := a.use.Unlock()
	a.unflushed, a.dir, a.use = nil, "", nil
	return disk.WriteFault(err)
}
