package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"path"
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
	logs lock.Set // inside the session's directory
	use  lock.Set // the use lock
}

// unlock releases every lock, the use lock last.
func (l *sessionLocks) unlock() {
	l.logs.Unlock()
	l.use.Unlock()
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.SessionNotFound, "the store holds no session %s", session)
	}
	return nil, disk.WriteFault(err)
}

// acquireSessionLocks does the work of lockSession. It adds each lock to locks as it is taken, so
// that the caller can release them after an error.
//
// A session without a directory is fs.ErrNotExist, which lockSession maps.
func (k *Keeper) acquireSessionLocks(ctx context.Context, session id.Session, locks *sessionLocks) error {
	if err := locks.logs.Add(k.d.LockLog(ctx, manifest.SessionEvents(session), lock.Exclusive)); err != nil {
		return err
	}
	// Without waiting: a performed command may run for hours.
	err := locks.logs.Add(k.d.Acquire(ctx, layout.PerformerPath(session), lock.Exclusive, 0))
	if err != nil {
		return disk.BusyFault(err, fault.RunBusy, "a run of session "+session.String())
	}
	locked := map[string]bool{}
	if err := k.lockSideLogs(ctx, session, locks, locked, k.d.LockWait); err != nil {
		return err
	}
	if err := locks.use.Add(k.d.LockUse(ctx, lock.Exclusive)); err != nil {
		return err
	}
	// Side logs that were created in between: their writers would continue with a file that was
	// moved. Under the use lock no lock may be waited for.
	return k.lockSideLogs(ctx, session, locks, locked, 0)
}

// lockSideLogs locks the side logs of a session that are not in locked, and adds them to it.
func (k *Keeper) lockSideLogs(ctx context.Context, session id.Session, locks *sessionLocks, locked map[string]bool,
	wait time.Duration) error {
	dir := layout.SessionDir(session)
	entries, err := k.d.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name, ".lock")
		if e.Kind != osfs.Directory || locked[name] {
			continue
		}
		_, exists, err := k.d.Lookup(name)
		if err != nil {
			return err
		}
		if !exists {
			continue // a directory without a lock file has no writer
		}
		if err := locks.logs.Add(k.d.Acquire(ctx, name, lock.Exclusive, wait)); err != nil {
			return disk.BusyLogFault(err, manifest.SessionEvents(session))
		}
		locked[name] = true
	}
	return nil
}
