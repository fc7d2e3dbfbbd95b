package upkeep

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
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

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
func (k *Keeper) lockSession(ctx context.Context, session id.Session) (*sessionLocks, error) {
	locks := &sessionLocks{}
	err := k.acquireSessionLocks(ctx, session, locks)
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
	return nil, k.d.BusyLogFault(err, manifest.SessionEvents(session))
}

// acquireSessionLocks does the work of lockSession. It adds each lock to locks as it is taken, so
// that the caller can release them after an error.
//
// A session without a directory is fs.ErrNotExist, which lockSession maps.
func (k *Keeper) acquireSessionLocks(ctx context.Context, session id.Session, locks *sessionLocks) (err error) {
	dir := layout.SessionDir(session)
	own, err := k.d.Locks.Acquire(ctx, layout.LockName(manifest.SessionEvents(session)), lock.Exclusive, k.d.LockWait)
	if err != nil {
		return err
	}
	locks.logs = append(locks.logs, own)
	// Without waiting: a performed command may run for hours.
	performer, err := k.d.Locks.Acquire(ctx, path.Join(dir, layout.PerformerLock), lock.Exclusive, 0)
	if err != nil {
		return disk.BusyFault(err, fault.RunBusy, "a run of session "+session.String())
	}
	locks.logs = append(locks.logs, performer)
	locked := map[string]bool{}
	if err := k.lockSideLogs(ctx, dir, locks, locked, k.d.LockWait); err != nil {
		return err
	}
	if locks.use, err = k.d.LockUse(ctx); err != nil {
		return err
	}
	// Side logs that were created in between: their writers would continue with a file that was
	// moved. Under the use lock no lock may be waited for.
	return k.lockSideLogs(ctx, dir, locks, locked, 0)
}

// lockSideLogs locks the side logs of the session directory dir that are not in locked, and adds
// them to it.
func (k *Keeper) lockSideLogs(
	ctx context.Context,
	dir string,
	locks *sessionLocks,
	locked map[string]bool,
	wait time.Duration,
) error {
	entries, err := k.d.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name, ".lock")
		if e.Kind != osfs.Directory || locked[name] {
			continue
		}
		if _, exists, err := k.d.Lookup(name); err != nil || !exists {
			if err != nil {
				return err
			}
			continue // a directory without a lock file has no writer
		}
		held, err := k.d.Locks.Acquire(ctx, name, lock.Exclusive, wait)
		if err != nil {
			return err
		}
		locked[name] = true
		locks.logs = append(locks.logs, held)
	}
	return nil
}
