package arrive

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
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
	s       *Importer
	session id.Session
	use     *lock.Held // shared, which keeps cleanups away from the objects
	dir     string     // the staged directory; "" once End must not remove it
	logs    []string   // directories of its logs, relative to dir; "" is the session's own
	buf     []byte     // for objects that are copied or hashed

	manifest osfs.File // of the log that received the last segment; one is open at a time
	groups   *bufio.Writer
	openLog  string // name of the log whose manifest is open

	unflushed   []*staged    // written and not yet synced
	relied      disk.Entries // objects that must be durable before the commit
	reliedCount int          // how many were added since the last sync
	objectDirs  []string     // directories of the objects that the commit relies on

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
	if _, err := m.d.ToWrite(); err != nil {
		return nil, err
	}
	use, err := m.d.Locks.Acquire(ctx, layout.UseLock, lock.Shared, m.d.LockWait)
	if err != nil {
		return nil, disk.BusyFault(err, fault.StoreLocked, "the store")
	}
	a := &arrival{s: m, session: session, use: use, buf: make([]byte, disk.CopyBytes)}
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
	entries, err := m.d.List("sessions")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e osfs.Entry) bool {
		return e.Kind == osfs.Directory && strings.HasPrefix(e.Name, layout.TempPrefix)
	}), err
}

// do performs one call. After a failed sync no later sync proves anything
// (docs/design.md#failed-sync), and a session with a missing part would be another session: the
// first error is returned by every later call.
//
// Errors of the disk are mapped by writeFault; an error of the caller's reader is returned
// unchanged.
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
	var source sourceError
	if errors.As(err, &source) {
		err = source.error
	} else {
		err = disk.WriteFault(err)
	}
	a.failed = err
	return err
}

// Segment implements ports.SessionImport. A segment above segmentBytesMax is STORE_LIMIT.
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
		return a.write(path.Join(a.dir, log, manifest.SegmentDir, seg.Name()), seg.Bytes)
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
		if _, err := a.s.d.Mkdirs(path.Join(a.dir, log, manifest.SegmentDir)); err != nil {
			return err
		}
		a.logs = append(a.logs, log)
	}
	if a.manifest, err = a.s.d.Open(path.Join(a.dir, log, manifest.FileName), mode); err != nil {
		return err
	}
	a.openLog, a.groups = log, bufio.NewWriterSize(a.manifest, groupsBuffer)
	return nil
}

// closeManifest flushes the open manifest and queues it for its sync like every other file.
func (a *arrival) closeManifest() error {
	if a.manifest == nil {
		return nil
	}
	err := a.groups.Flush()
	a.unflushed = append(a.unflushed, &staged{file: a.manifest})
	a.manifest, a.groups = nil, nil
	return err
}

// Control implements ports.SessionImport. An unknown control file is INTERNAL.
func (a *arrival) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return a.do(ctx, func() error {
		if _, err := layout.SessionControlName(a.session, f); err != nil {
			return err
		}
		b, err := controlfile.Encode(controlfile.Document{Kind: f.Kind, V: c.V, Data: c.Data})
		if err != nil {
			return err
		}
		return a.write(path.Join(a.dir, f.Name), b)
	})
}

// Tombstone implements ports.SessionImport. An existing artifact or tombstone is kept.
func (a *arrival) Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	return a.do(ctx, func() error {
		name := layout.ArtifactPath(ref)
		for _, is := range []string{name + layout.ErasedSuffix, name} {
			if _, exists, err := a.s.d.Lookup(is); err != nil {
				return err
			} else if exists {
				return a.relyOnExisting(is)
			}
		}
		b, err := controlfile.Encode(controlfile.Document{Kind: layout.ErasedKind, V: layout.ErasedVersion, Data: data})
		if err != nil {
			return err
		}
		st, err := a.stage(name + layout.ErasedSuffix)
		if err != nil {
			return err
		}
		st.same = func() (bool, error) { return true, nil } // a tombstone that another process placed is kept
		if _, err = st.file.Write(b); err != nil {
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
	for _, st := range a.unflushed {
		if st.file != nil {
			_ = st.file.Close()
		}
		if st.temp != "" {
			_ = a.s.d.Remove(st.temp)
		}
	}
	if a.dir != "" && !a.keepStaged {
		_ = a.s.d.RemoveAll(a.dir)
	}
	err := a.use.Unlock()
	a.unflushed, a.dir, a.use = nil, "", nil
	return disk.WriteFault(err)
}
