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

// Commit implements ports.Arrival: files, then folders, then the one rename that
// makes the session visible, and the sync that makes it stay.
func (a *arrival) Commit(ctx context.Context) (placed bool, err error) {
	err = a.do(ctx, func() error {
		if len(a.logs) == 0 || a.logs[0] != "" {
			return fault.New(fault.Internal, "session %s arrives without events", a.session)
		}
		err := a.closeManifest()
		if err == nil {
			err = a.flush()
		}
		if err == nil {
			err = a.settleAll()
		}
		if err == nil {
			err = a.mark()
		}
		if err == nil {
			placed, err = a.place(ctx)
		}
		return err
	})
	a.over = a.over || err == nil
	return placed, err
}

// settleAll syncs every folder that the session relies on: its own, those of objects
// that no batch has settled, and the way from the store to all of them.
func (a *arrival) settleAll() error {
	way, err := a.s.wayTo(nil, append([]string{"sessions"}, a.kinds...))
	if err != nil {
		return err
	}
	a.relied.add(way...)
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
	return a.settle(own)
}

// arrivalMark begins the mark of a session that was moved in and of which nobody has
// said yet that it stays. It stands in the file that makes a log suspect, so that
// whoever is about to acknowledge something about the log meets it.
const arrivalMark = "arriving"

// arrivalMark adds the run of the machine: after another start what is there was
// durable.
func (s *Store) arrivalMark() string { return arrivalMark + " " + s.o.Boot + "\n" }

// mark leaves the word that the arrival may be taken back yet. It is not synced: what
// a power cut leaves needs none.
func (a *arrival) mark() error {
	for _, log := range a.logs {
		if err := a.s.writeUnsynced(path.Join(a.dir, log, suspectFile), []byte(a.s.arrivalMark())); err != nil {
			return err
		}
	}
	return nil
}

// waysMade bounds how often a session in the way is looked at. One that others begin
// and lose as often is somebody's mistake.
const waysMade = 16

// place moves the session in, unless one is there.
func (a *arrival) place(ctx context.Context) (bool, error) {
	home := sessionDir(a.session)
	for range waysMade {
		err := a.s.fs.Place(a.dir, home)
		if err == nil {
			if err = a.s.fs.SyncDir("sessions", osfs.Durable); err == nil {
				a.stays(home)
				return true, nil
			}
		} else if errors.Is(err, fs.ErrExist) {
			there, err := a.makeWay(ctx)
			if there || err != nil {
				return false, err
			}
			continue
		} else if _, still, statErr := a.s.stat(a.dir); statErr == nil && still {
			return false, err // nothing moved
		}
		return false, a.takeBack(home, err)
	}
	return false, fault.New(fault.SessionLocked, "%s is begun by others over and over", a.session)
}

// stays ends the doubt about a session that was moved in. A mark that cannot be
// removed costs its next writer a copy, nothing else.
func (a *arrival) stays(home string) {
	a.s.doubt([]string{home}, false)
	for _, log := range a.logs {
		_ = a.s.fs.Remove(path.Join(home, log, suspectFile))
	}
	a.dir = ""
}

// takeBackTries is how often the session is moved away again after a failed sync:
// once it is durable that it is gone, nothing was recorded.
const takeBackTries = 3

// takeBack moves the session out of sight again: a sync that failed once proves
// nothing when it later succeeds, so only another change that was synced does (R7).
func (a *arrival) takeBack(home string, cause error) error {
	s := a.s
	s.doubt([]string{home}, true)
	back := a.dir
	a.dir = "" // not to be removed: a power cut may bring its name back
	var err error
	for range takeBackTries {
		if err = s.fs.Place(home, back); err == nil {
			break
		}
		if _, moved, statErr := s.stat(back); statErr == nil && moved {
			err = nil
			break
		}
	}
	if err == nil {
		if err = s.fs.SyncDir("sessions", osfs.Durable); err == nil {
			s.doubt([]string{home}, false)
			a.dir = back
			return cause
		}
		// Where a cleanup does not empty it.
		if to, nameErr := s.asideName(a.session.String(), s.o.Now().UnixMilli()); nameErr == nil {
			_ = s.fs.Place(back, to)
		}
	}
	return fault.Wrap(errors.Join(cause, err), fault.StoreOutcomeUnknown,
		"moving session %s in failed, and so did taking it back: whether it is there shows when it is looked for again",
		a.session).
		With("sessionId", a.session.String())
}

// errCommitted ends a reading at the first segment.
var errCommitted = errors.New("the session was committed to")

type firstSegment struct{}

func (firstSegment) Reset()                                      {}
func (firstSegment) Visit(manifest.Segment, manifest.Head) error { return errCommitted }

// born reports a session that makes way for nobody: something was committed to it, or
// it is damaged.
func (a *arrival) born(ctx context.Context, locked bool) (bool, error) {
	verdict, err := a.s.Read(ctx, ports.Reading{Log: manifest.SessionEvents(a.session), Locked: locked}, firstSegment{})
	if errors.Is(err, errCommitted) {
		return true, nil
	}
	return err == nil && !verdict.Unborn(), err
}

// makeWay looks at the session that stands where this one is to go. An unborn one is
// moved to the quarantine under its lock: it may hold what is left of somebody's work.
// Whoever waits for that lock finds the folder gone, and starts over.
func (a *arrival) makeWay(ctx context.Context) (there bool, err error) {
	if there, err := a.born(ctx, false); there || err != nil {
		return there, err
	}
	log := manifest.SessionEvents(a.session)
	held, err := a.s.locks.Acquire(ctx, lockName(log), lock.Exclusive, a.s.o.LockWait)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // gone meanwhile
	}
	if err != nil {
		return false, a.s.busyLog(err, log)
	}
	defer held.Unlock()
	if there, err := a.born(ctx, true); there || err != nil {
		return there, err
	}
	to, err := a.s.asideName(a.session.String(), a.s.o.Now().UnixMilli())
	if err != nil {
		return false, err
	}
	if _, err := a.s.mkdirs(quarantineDir); err != nil {
		return false, err
	}
	if movesOnlyClosed {
		_ = held.Unlock()
	}
	if err := a.s.fs.Place(log.Root, to); err != nil {
		return false, err
	}
	// Kept, not only gone from where it was.
	return false, a.s.fs.Together(
		func() error { return a.s.fs.SyncDir(quarantineDir, osfs.Order) },
		func() error { return a.s.fs.SyncDir(".", osfs.Order) },
	)
}

// settleArrival says of a session that was moved in that it stays, in place of an
// arrival that never came to say so. It waits for arrivals under way: one of them may
// take the session back. The lock of a log in it is held, the use lock is not.
func (s *Store) settleArrival(root string) error {
	marked, err := s.arriving(root)
	if !marked || err != nil {
		return err
	}
	held, err := s.useAlone(context.Background())
	if err != nil {
		return err
	}
	defer held.Unlock()
	return s.settleArrivalAlone(root)
}

func (s *Store) arriving(root string) (bool, error) {
	b, err := s.readFile(path.Join(root, suspectFile), recordMax)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return strings.HasPrefix(string(b), arrivalMark), err
}

// recordMax is more than a mark needs: a name of a run of the machine has 36 bytes.
const recordMax = 1 << 10

// settleArrivalAlone is settleArrival under the use lock.
func (s *Store) settleArrivalAlone(root string) error {
	b, err := s.readFile(path.Join(root, suspectFile), recordMax)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there, err := s.stat(root); err != nil || there {
			return err // it stays, and the arrival said so
		}
		return fault.New(fault.SessionNotFound, "%s was taken back by whoever brought it", root)
	}
	if err != nil || !strings.HasPrefix(string(b), arrivalMark) {
		return err
	}
	home := strings.Join(strings.SplitN(root, "/", 3)[:2], "/")
	if s.o.Boot != "" && string(b) == s.arrivalMark() {
		// Whether a sync of its name failed nobody is left to tell: it gets its name once
		// more, so that the sync below means it (R7).
		if err := s.placeAnew(home); err != nil {
			return err
		}
	}
	err = s.fs.SyncDir(path.Dir(home), osfs.Durable)
	s.doubt([]string{home}, err != nil)
	return err
}

// placeAnew moves a folder away and back. For a moment it is not there: only what was
// never acknowledged is treated so. Should it not come back, it is as if it had never
// arrived.
func (s *Store) placeAnew(dir string) error {
	away, err := s.tempName(path.Dir(dir))
	if err != nil {
		return err
	}
	if err := s.fs.Place(dir, away); err != nil {
		return err
	}
	for range takeBackTries {
		if err = s.fs.Place(away, dir); err == nil || errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return err
}
