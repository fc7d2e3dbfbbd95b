package arrive

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/commit"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// extension is the import of events that continue logs of a session (docs/design.md#home). Its files are staged as
// those of an arrival are, in a directory of their own. Each staged manifest is the stored one with the new groups
// behind it.
//
// The steps of Commit, and what a crash between them leaves for the next writer of a log:
//   - everything that is staged is synced: a staged directory, which gc removes;
//   - the import mark is replaced: one that states more than the logs have, which is cut;
//   - the segments are placed: segments that no group commits, which the mark explains, and which go to the
//     quarantine;
//   - the manifests are replaced, the session's own first: logs that are extended, and logs that are not;
//   - the mark is written again without the note that the import is in progress.
type extension struct {
	arrival
	logs []*extendedLog // in the order of their commits
	mark controlfile.Document
}

// extendedLog is one of the logs.
type extendedLog struct {
	*commit.Extended
	name     string        // "" for the session's own
	segments []string      // names of the new ones
	last     manifest.Head // behind them
}

// BeginExtension implements ports.SessionImporter.
func (m *Importer) BeginExtension(ctx context.Context, session id.Session, logs []ports.Extended) (ports.SessionImport,
	error) {
	x := &extension{arrival: arrival{d: m.d, read: m.read, session: session}}
	err := m.beginExtension(ctx, x, logs)
	if err != nil {
		for _, l := range x.logs {
			l.Withdraw()
		}
		_ = x.End()
		return nil, disk.WriteFault(err)
	}
	return x, nil
}

// beginExtension prepares the logs, and then what an import of a whole session needs: the use lock comes last in the
// order of locks.
func (m *Importer) beginExtension(ctx context.Context, x *extension, logs []ports.Extended) (err error) {
	for _, to := range logs {
		name := to.Log.Table.Name
		if to.Log.Root == layout.SessionDir(x.session) {
			name = ""
		}
		prepared, err := m.commit.Extend(ctx, to)
		if err != nil {
			return err
		}
		x.logs = append(x.logs, &extendedLog{Extended: prepared, name: name, last: to.At})
	}
	if x.use, err = m.d.LockToWrite(ctx, lock.Shared); err != nil {
		return err
	}
	if x.unsynced, err = m.unfinished(); err != nil {
		return err
	}
	if x.dir, err = m.d.TempName("sessions"); err != nil {
		return err
	}
	_, err = m.d.Mkdirs(x.dir)
	x.prefix = x.copyManifest
	return err
}

// find returns the log with a name, nil if it is not extended.
func (x *extension) find(name string) *extendedLog {
	i := slices.IndexFunc(x.logs, func(l *extendedLog) bool { return l.name == name })
	if i < 0 {
		return nil
	}
	return x.logs[i]
}

// copyManifest begins the staged manifest of a log.
func (x *extension) copyManifest(name string) error { return x.find(name).CopyManifest(x.groups) }

// Segment implements ports.SessionImport.
func (x *extension) Segment(ctx context.Context, name string, seg manifest.Segment) error {
	l := x.find(name)
	if l == nil || seg.First != l.last.Next {
		return x.do(ctx, func() error {
			return fault.New(fault.Internal, "events %d to %d of log %q do not continue a log that is extended", seg.First,
				seg.Last, name)
		})
	}
	if err := x.arrival.Segment(ctx, name, seg); err != nil {
		return err
	}
	l.segments, l.last = append(l.segments, seg.Name()), l.last.After(seg.Group, seg)
	return nil
}

// Control implements ports.SessionImport.
func (x *extension) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return x.do(ctx, func() error {
		if f != ports.ImportedFile || c.V != imported.Version {
			return fault.New(fault.Internal, "%s is not part of an extension", f.Name)
		}
		x.mark = controlfile.Document{Kind: f.Kind, V: c.V, Data: c.Data}
		return nil
	})
}

// Commit implements ports.SessionImport.
func (x *extension) Commit(ctx context.Context) (placed bool, err error) {
	err = x.do(ctx, func() error {
		if x.mark.Kind == "" {
			return fault.New(fault.Internal, "session %s is extended without an import mark", x.session)
		}
		x.logs = slices.DeleteFunc(x.logs, func(l *extendedLog) bool {
			if len(l.segments) == 0 {
				l.Withdraw()
				l.End()
			}
			return len(l.segments) == 0
		})
		for _, step := range []func() error{x.closeManifest, x.flush, x.syncStaged} {
			if err := step(); err != nil {
				x.withdraw()
				return err
			}
		}
		return x.commitLogs()
	})
	x.ended = x.ended || err == nil
	return err == nil, err
}

// withdraw clears the notes of an extension that changed nothing.
func (x *extension) withdraw() {
	for _, l := range x.logs {
		l.Withdraw()
	}
}

// syncStaged syncs the directories of the objects.
func (x *extension) syncStaged() error {
	ends := append([]string{layout.SessionDir(x.session)}, x.objectDirs...)
	for _, l := range x.logs {
		ends = append(ends, l.Log().Root)
	}
	names, err := x.d.PathEntries(nil, ends)
	if err != nil {
		return err
	}
	x.relied.Add(names...)
	return x.syncRelied(nil)
}

// commitLogs makes the events visible. After an error nothing of them is, unless it is STORE_OUTCOME_UNKNOWN.
func (x *extension) commitLogs() error {
	mark := path.Join(layout.SessionDir(x.session), ports.ImportedFile.Name)
	old, hadMark, err := x.d.ReadControl(mark, ports.ImportedFile.Kind)
	if err != nil {
		x.withdraw()
		return err
	}
	err = x.putPendingMark(mark)
	if err == nil {
		err = x.placeSegments()
	}
	done := 0
	for err == nil && done < len(x.logs) {
		l := x.logs[done]
		err = l.Commit(path.Join(x.dir, l.name, manifest.FileName))
		done++ // also after an error, which may have replaced it
	}
	if err != nil {
		return x.undo(err, done, func() error {
			if hadMark {
				return x.d.PutControl(mark, old, x.d.Replace)
			}
			if err := disk.UnlessMissing(x.d.Remove(mark)); err != nil {
				return err
			}
			return x.d.SyncDir(layout.SessionDir(x.session), osfs.Durable)
		})
	}
	// The events are durable: from here on no error may be returned. A note that remains is of a head that no log
	// has any more.
	_ = x.d.PutControl(mark, x.mark, x.d.Replace)
	for _, l := range x.logs {
		l.Settle(l.last.Digest)
	}
	return nil
}

// putPendingMark writes the import mark with the note that the logs are being extended.
func (x *extension) putPendingMark(name string) error {
	mark, err := imported.Read(x.mark.Data)
	if err != nil {
		return err
	}
	mark.Pending = map[string]int64{}
	for _, l := range x.logs {
		mark.Pending[l.Log().Table.Name] = l.At().Next
	}
	return x.d.PutControl(name, controlfile.Document{Kind: x.mark.Kind, V: x.mark.V, Data: mark.Value()}, x.d.Replace)
}

// placeSegments moves the segments to their logs, and syncs every directory that the commit relies on.
func (x *extension) placeSegments() error {
	dirs := []string{}
	for _, l := range x.logs {
		segments := layout.SegmentsDir(l.Log())
		if _, err := x.d.Mkdirs(segments); err != nil {
			return err
		}
		for _, name := range l.segments {
			err := x.d.Place(path.Join(x.dir, l.name, manifest.SegmentDir, name), l.SegmentPath(name))
			if errors.Is(err, fs.ErrExist) { // another process writes without the lock
				return fault.New(fault.StoreConflict, "%s changed while it was extended", l.Log().Owner)
			}
			if err != nil {
				return err
			}
		}
		dirs = append(dirs, segments, l.Log().Root)
	}
	if !slices.Contains(dirs, layout.SessionDir(x.session)) {
		dirs = append(dirs, layout.SessionDir(x.session))
	}
	return x.d.SyncDirs(osfs.Order, dirs...)
}

// undo reverts what commitLogs did: the first logs of done, the segments, and then the mark. The notes in the lock
// files remain, so that the next writer looks for what could not be removed. cause is returned if no log is
// extended.
func (x *extension) undo(cause error, done int, restoreMark func() error) error {
	var err error
	// The last one first, and none before one that remains: no side log is extended without the session's own.
	for i := done - 1; i >= 0 && err == nil; i-- {
		err = x.logs[i].RollBack()
	}
	if err != nil {
		return fault.Wrap(errors.Join(cause, err), fault.StoreOutcomeUnknown,
			"extending session %s failed, and so did undoing it: import the bundle again to learn whether it was recorded",
			x.session).With("sessionId", x.session.String())
	}
	dirs := []string{}
	for _, l := range x.logs {
		for _, name := range l.segments {
			err = errors.Join(err, disk.UnlessMissing(x.d.Remove(l.SegmentPath(name))))
		}
		if _, exists, _ := x.d.Lookup(layout.SegmentsDir(l.Log())); exists {
			dirs = append(dirs, layout.SegmentsDir(l.Log()))
		}
	}
	// Without the mark, segments that remain would prove a loss.
	if err == nil && x.d.SyncDirs(osfs.Durable, dirs...) == nil {
		_ = restoreMark()
	}
	return cause
}

// End implements ports.SessionImport.
func (x *extension) End() error {
	for _, l := range x.logs {
		if !x.ended && x.failed == nil {
			l.Withdraw()
		}
		l.End()
	}
	return x.arrival.End()
}
