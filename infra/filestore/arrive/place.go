package arrive

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Commit implements ports.SessionImport: it syncs files, then directories, then renames the staged
// directory to the session's, which makes it visible, and syncs sessions/, which makes it durable.
// placed is false when the session exists already. Errors: SESSION_LOCKED, STORE_OUTCOME_UNKNOWN,
// and those of writing.
func (a *arrival) Commit(ctx context.Context) (placed bool, err error) {
	err = a.do(ctx, func() error {
		if len(a.logs) == 0 || a.logs[0] != "" {
			return fault.New(fault.Internal, "session %s is imported without events", a.session)
		}
		for _, step := range []func() error{a.closeManifest, a.flush, a.syncAll, a.writeMarks} {
			if err := step(); err != nil {
				return err
			}
		}
		placed, err = a.place(ctx)
		return err
	})
	a.ended = a.ended || err == nil
	return placed, err
}

// syncAll syncs every directory that the session relies on: its own, those of objects that no
// earlier batch synced, and the path from the store to all of them.
func (a *arrival) syncAll() error {
	names, err := a.d.PathEntries(nil, append([]string{"sessions"}, a.objectDirs...))
	if err != nil {
		return err
	}
	a.relied.Add(names...)
	dirs := []string{a.dir}
	for _, log := range a.logs {
		root := path.Join(a.dir, log)
		if log != "" {
			dirs = append(dirs, root)
		}
		dirs = append(dirs, path.Join(root, manifest.SegmentDir))
	}
	return a.syncRelied(a.d.DirSyncs(osfs.Order, dirs))
}

// writeMarks writes the mark into every log of the session before the rename. It is not synced:
// after a power cut it is not needed.
func (a *arrival) writeMarks() error {
	for _, log := range a.logs {
		if err := a.d.WriteUnsynced(path.Join(a.dir, log, layout.SuspectFile), []byte(a.d.ArrivalMark())); err != nil {
			return err
		}
	}
	return nil
}

// placeTriesMax bounds how often an unborn session in the way is removed. A session that other
// processes create and lose as often indicates a bug.
const placeTriesMax = 16

// place moves the staged directory to the session's name; false when a session with commits exists.
//
// An unborn session in the way is moved to the quarantine, and the rename is tried again.
func (a *arrival) place(ctx context.Context) (bool, error) {
	target := layout.SessionDir(a.session)
	for range placeTriesMax {
		err := a.d.Place(a.dir, target)
		if err == nil {
			if err = a.d.SyncDir("sessions", osfs.Durable); err == nil {
				a.confirmPlaced(target)
				return true, nil
			}
		} else if errors.Is(err, fs.ErrExist) {
			exists, err := a.clearTarget(ctx)
			if exists || err != nil {
				return false, err
			}
			continue
		} else if _, still, statErr := a.d.Lookup(a.dir); statErr == nil && still {
			return false, err // nothing moved
		}
		return false, a.rollBack(target, err)
	}
	return false, fault.New(fault.SessionLocked, "%s is created repeatedly by other processes", a.session)
}

// confirmPlaced removes the marks of a session whose rename is durable. A mark that cannot be
// removed costs the next writer a copy of the manifest, nothing else.
func (a *arrival) confirmPlaced(target string) {
	a.d.SetSyncFailed([]string{target}, false)
	for _, log := range a.logs {
		_ = a.d.Remove(path.Join(target, log, layout.SuspectFile))
	}
	a.dir = ""
}

// rollBack moves the session back to its staged name after a failed sync and syncs that change: a
// later sync of the first rename would prove nothing (docs/design.md#failed-sync). cause is
// returned once the session is durably gone, otherwise STORE_OUTCOME_UNKNOWN.
//
// The name stays recorded as unsynced in this process until the removal is durable, so that no
// later operation relies on it.
func (a *arrival) rollBack(target string, cause error) error {
	a.d.SetSyncFailed([]string{target}, true)
	back := a.dir
	a.dir = "" // not to be removed: a power cut may restore its name
	var err error
	for range disk.RollBackTries {
		if err = a.d.Place(target, back); err == nil {
			break
		}
		if _, moved, statErr := a.d.Lookup(back); statErr == nil && moved {
			err = nil
			break
		}
	}
	if err == nil {
		if err = a.d.SyncDir("sessions", osfs.Durable); err == nil {
			a.d.SetSyncFailed([]string{target}, false)
			a.dir = back
			return cause
		}
		// The quarantine is not emptied by a cleanup.
		if to, nameErr := a.d.QuarantineName(a.session.String(), a.d.Now().UnixMilli()); nameErr == nil {
			_ = a.d.Place(back, to)
		}
	}
	return fault.Wrap(errors.Join(cause, err), fault.StoreOutcomeUnknown,
		"moving session %s in failed, and so did moving it back: list the sessions to see whether the store has it",
		a.session).
		With("sessionId", a.session.String())
}

// errCommitted stops a reading at the first segment.
var errCommitted = errors.New("the session was committed to")

// isCommitted reports a session that is not replaced: it has a commit, or is damaged.
func (a *arrival) isCommitted(ctx context.Context, locked bool) (bool, error) {
	verdict, err := a.read.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(a.session), Locked: locked},
		ports.Each(func(manifest.Segment, manifest.Head) error { return errCommitted }))
	if errors.Is(err, errCommitted) {
		return true, nil
	}
	return err == nil && !verdict.Unborn(), err
}

// clearTarget handles the session that has the name of this one; exists is true when it must be
// kept. An unborn session is moved to the quarantine under its lock, since it may contain the
// remains of a first commit. A process that waits for that lock finds the directory gone and starts
// over.
func (a *arrival) clearTarget(ctx context.Context) (exists bool, err error) {
	if exists, err := a.isCommitted(ctx, false); exists || err != nil {
		return exists, err
	}
	log := manifest.SessionEvents(a.session)
	held, err := a.d.LockLog(ctx, log, lock.Exclusive)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // removed in between
	}
	if err != nil {
		return false, err
	}
	defer held.Unlock()
	if exists, err := a.isCommitted(ctx, true); exists || err != nil {
		return exists, err
	}
	to, err := a.d.QuarantineName(a.session.String(), a.d.Now().UnixMilli())
	if err != nil {
		return false, err
	}
	if _, err := a.d.Mkdirs(layout.QuarantineDir); err != nil {
		return false, err
	}
	if layout.MoveNeedsClosedFiles {
		_ = held.Unlock()
	}
	if err := a.d.Place(log.Root, to); err != nil {
		return false, err
	}
	// Both directories are synced, so that the files are durable at their new name.
	return false, a.d.SyncDirs(osfs.Order, layout.QuarantineDir, ".")
}
