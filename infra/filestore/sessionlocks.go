package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// performerLock is held by the process that performs a run of a session
// (docs/design.md#ends-and-branches).
const performerLock = ".performer.lock"

// lockUseExclusive takes the use lock exclusively, which excludes commits. Every operation that
// unlinks or moves files holds it (docs/design.md#commit-protocol). A busy lock is STORE_LOCKED.
func (s *Store) lockUseExclusive(ctx context.Context) (*lock.Held, error) {
	held, err := s.locks.Acquire(ctx, useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return nil, busyFault(err, fault.StoreLocked, "the store")
	}
	return held, nil
}

// sessionLocks are all locks of a session and the use lock: while they are held, no process writes
// to the session or is about to.
type sessionLocks struct {
	logs []*lock.Held
	use  *lock.Held
}

// unlockLogs releases the locks inside the session's directory and keeps the use lock.
func (l *sessionLocks) unlockLogs() {
	for _, h := range slices.Backward(l.logs) {
		_ = h.Unlock()
	}
	l.logs = nil
}

// unlock releases every lock, the use lock last.
func (l *sessionLocks) unlock() {
	l.unlockLogs()
	if l.use != nil {
		_ = l.use.Unlock()
	}
}

// lockSession takes all locks of a session in the order of writers, the log's before the use lock;
// in the other order two processes would wait for each other. Errors: SESSION_LOCKED, RUN_BUSY when
// a run is being performed, STORE_LOCKED, SESSION_NOT_FOUND.
func (s *Store) lockSession(ctx context.Context, session id.Session) (*sessionLocks, error) {
	locks := &sessionLocks{}
	err := s.acquireSessionLocks(ctx, session, locks)
	if err == nil {
		return locks, nil
	}
	locks.unlock()
	var known *fault.Fault
	switch {
	case errors.As(err, &known):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.SessionNotFound, "the store holds no session %s", session)
	}
	return nil, s.busyLogFault(err, manifest.SessionEvents(session))
}

// acquireSessionLocks does the work of lockSession. It adds each lock to locks as it is taken, so
// that the caller can release them after an error.
//
// A session without a directory is fs.ErrNotExist, which lockSession maps.
func (s *Store) acquireSessionLocks(ctx context.Context, session id.Session, locks *sessionLocks) (err error) {
	dir := sessionDir(session)
	own, err := s.locks.Acquire(ctx, lockName(manifest.SessionEvents(session)), lock.Exclusive, s.o.LockWait)
	if err != nil {
		return err
	}
	locks.logs = append(locks.logs, own)
	// Without waiting: a performed command may run for hours.
	performer, err := s.locks.Acquire(ctx, path.Join(dir, performerLock), lock.Exclusive, 0)
	if err != nil {
		return busyFault(err, fault.RunBusy, "a run of session "+session.String())
	}
	locks.logs = append(locks.logs, performer)
	locked := map[string]bool{}
	if err := s.lockSideLogs(ctx, dir, locks, locked, s.o.LockWait); err != nil {
		return err
	}
	if locks.use, err = s.lockUseExclusive(ctx); err != nil {
		return err
	}
	// Side logs that were created in between: their writers would continue with a file that was
	// moved. Under the use lock no lock may be waited for.
	return s.lockSideLogs(ctx, dir, locks, locked, 0)
}

// lockSideLogs locks the side logs of the session directory dir that are not in locked, and adds
// them to it.
func (s *Store) lockSideLogs(
	ctx context.Context,
	dir string,
	locks *sessionLocks,
	locked map[string]bool,
	wait time.Duration,
) error {
	entries, err := s.fs.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name, ".lock")
		if e.Kind != osfs.Directory || locked[name] {
			continue
		}
		if _, exists, err := s.stat(name); err != nil || !exists {
			if err != nil {
				return err
			}
			continue // a directory without a lock file has no writer
		}
		held, err := s.locks.Acquire(ctx, name, lock.Exclusive, wait)
		if err != nil {
			return err
		}
		locked[name] = true
		locks.logs = append(locks.logs, held)
	}
	return nil
}
