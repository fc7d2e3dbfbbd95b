package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
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
		err := a.closeManifest()
		if err == nil {
			err = a.flush()
		}
		if err == nil {
			err = a.syncAll()
		}
		if err == nil {
			err = a.writeMarks()
		}
		if err == nil {
			placed, err = a.place(ctx)
		}
		return err
	})
	a.ended = a.ended || err == nil
	return placed, err
}

// syncAll syncs every directory that the session relies on: its own, those of objects that no
// earlier batch synced, and the path from the store to all of them.
func (a *arrival) syncAll() error {
	names, err := a.s.pathEntries(nil, append([]string{"sessions"}, a.objectDirs...))
	if err != nil {
		return err
	}
	a.relied.add(names...)
	dirs := []string{a.dir}
	for _, log := range a.logs {
		root := path.Join(a.dir, log)
		if log != "" {
			dirs = append(dirs, root)
		}
		dirs = append(dirs, path.Join(root, manifest.SegmentDir))
	}
	var own []func() error
	for _, dir := range dirs {
		own = append(own, func() error { return a.s.fs.SyncDir(dir, osfs.Order) })
	}
	return a.syncRelied(own)
}

// arrivalMark starts the content of the suspect file of a session that was moved in and whose
// rename is not known to be durable. A process that is about to acknowledge something about the log
// reads that file.
const arrivalMark = "arriving"

// arrivalMark adds the boot id: after a restart of the machine everything that exists was durable.
func (s *Store) arrivalMark() string { return arrivalMark + " " + s.o.Boot + "\n" }

// writeMarks writes the mark into every log of the session before the rename. It is not synced:
// after a power cut it is not needed.
func (a *arrival) writeMarks() error {
	for _, log := range a.logs {
		if err := a.s.writeUnsynced(path.Join(a.dir, log, suspectFile), []byte(a.s.arrivalMark())); err != nil {
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
	target := sessionDir(a.session)
	for range placeTriesMax {
		err := a.s.fs.Place(a.dir, target)
		if err == nil {
			if err = a.s.fs.SyncDir("sessions", osfs.Durable); err == nil {
				a.confirmPlaced(target)
				return true, nil
			}
		} else if errors.Is(err, fs.ErrExist) {
			exists, err := a.clearTarget(ctx)
			if exists || err != nil {
				return false, err
			}
			continue
		} else if _, still, statErr := a.s.stat(a.dir); statErr == nil && still {
			return false, err // nothing moved
		}
		return false, a.rollBack(target, err)
	}
	return false, fault.New(fault.SessionLocked, "%s is created repeatedly by other processes", a.session)
}

// confirmPlaced removes the marks of a session whose rename is durable. A mark that cannot be
// removed costs the next writer a copy of the manifest, nothing else.
func (a *arrival) confirmPlaced(target string) {
	a.s.setSyncFailed([]string{target}, false)
	for _, log := range a.logs {
		_ = a.s.fs.Remove(path.Join(target, log, suspectFile))
	}
	a.dir = ""
}

// rollBackTries is how often the session is moved back after a failed sync.
const rollBackTries = 3

// rollBack moves the session back to its staged name after a failed sync and syncs that change: a
// later sync of the first rename would prove nothing (docs/design.md#failed-sync). cause is
// returned once the session is durably gone, otherwise STORE_OUTCOME_UNKNOWN.
//
// The name stays recorded as unsynced in this process until the removal is durable, so that no
// later operation relies on it.
func (a *arrival) rollBack(target string, cause error) error {
	s := a.s
	s.setSyncFailed([]string{target}, true)
	back := a.dir
	a.dir = "" // not to be removed: a power cut may restore its name
	var err error
	for range rollBackTries {
		if err = s.fs.Place(target, back); err == nil {
			break
		}
		if _, moved, statErr := s.stat(back); statErr == nil && moved {
			err = nil
			break
		}
	}
	if err == nil {
		if err = s.fs.SyncDir("sessions", osfs.Durable); err == nil {
			s.setSyncFailed([]string{target}, false)
			a.dir = back
			return cause
		}
		// The quarantine is not emptied by a cleanup.
		if to, nameErr := s.quarantineName(a.session.String(), s.o.Now().UnixMilli()); nameErr == nil {
			_ = s.fs.Place(back, to)
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
	verdict, err := a.s.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(a.session), Locked: locked},
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
	held, err := a.s.locks.Acquire(ctx, lockName(log), lock.Exclusive, a.s.o.LockWait)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // removed in between
	}
	if err != nil {
		return false, a.s.busyLogFault(err, log)
	}
	defer held.Unlock()
	if exists, err := a.isCommitted(ctx, true); exists || err != nil {
		return exists, err
	}
	to, err := a.s.quarantineName(a.session.String(), a.s.o.Now().UnixMilli())
	if err != nil {
		return false, err
	}
	if _, err := a.s.mkdirs(quarantineDir); err != nil {
		return false, err
	}
	if moveNeedsClosedFiles {
		_ = held.Unlock()
	}
	if err := a.s.fs.Place(log.Root, to); err != nil {
		return false, err
	}
	// Both directories are synced, so that the files are durable at their new name.
	return false, a.s.fs.SyncAll(
		func() error { return a.s.fs.SyncDir(quarantineDir, osfs.Order) },
		func() error { return a.s.fs.SyncDir(".", osfs.Order) },
	)
}

// finishArrival completes an import that did not finish: it makes the rename of the session
// durable. It waits for imports in progress, since one of them may still move the session back.
// root is a log in the session. The lock of that log is held, the use lock is not.
func (s *Store) finishArrival(root string) error {
	marked, err := s.hasArrivalMark(root)
	if !marked || err != nil {
		return err
	}
	held, err := s.lockUseExclusive(context.Background())
	if err != nil {
		return err
	}
	defer held.Unlock()
	return s.finishArrivalLocked(root)
}

// hasArrivalMark reports a log with an arrival mark.
func (s *Store) hasArrivalMark(root string) (bool, error) {
	b, err := s.readFile(path.Join(root, suspectFile), arrivalMarkBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return strings.HasPrefix(string(b), arrivalMark), err
}

// arrivalMarkBytesMax is more than a mark needs: a boot id has 36 bytes.
const arrivalMarkBytesMax = 1 << 10

// finishArrivalLocked is finishArrival under the exclusive use lock. A session that was moved back
// is SESSION_NOT_FOUND.
//
// By the content of the suspect file of root:
//   - no file: the import finished, or another process moved the session back;
//   - another content than a mark: a failed sync, which copyManifest handles;
//   - a mark of an earlier boot: the rename survived the restart; sessions/ is synced again;
//   - a mark of this boot: the entry is renewed, then sessions/ is synced.
func (s *Store) finishArrivalLocked(root string) error {
	b, err := s.readFile(path.Join(root, suspectFile), arrivalMarkBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		if _, exists, err := s.stat(root); err != nil || exists {
			return err // its import finished
		}
		return fault.New(fault.SessionNotFound, "%s was removed by the process that imported it", root)
	}
	if err != nil || !strings.HasPrefix(string(b), arrivalMark) {
		return err
	}
	session := strings.Join(strings.SplitN(root, "/", 3)[:2], "/")
	if s.o.Boot != "" && string(b) == s.arrivalMark() {
		// Within the boot of the import it is unknown whether a sync of the name failed: the
		// directory is renamed again, so that the sync below applies to the entry
		// (docs/design.md#failed-sync).
		if err := s.renewEntry(session); err != nil {
			return err
		}
	}
	err = s.fs.SyncDir(path.Dir(session), osfs.Durable)
	s.setSyncFailed([]string{session}, err != nil)
	return err
}

// renewEntry renames a directory away and back, which makes its entry new. It does not exist for a
// moment, so only a session that was never acknowledged is renamed. If it cannot be renamed back,
// the session is gone as if it had never been imported.
func (s *Store) renewEntry(dir string) error {
	away, err := s.tempName(path.Dir(dir))
	if err != nil {
		return err
	}
	if err := s.fs.Place(dir, away); err != nil {
		return err
	}
	for range rollBackTries {
		if err = s.fs.Place(away, dir); err == nil || errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return err
}
