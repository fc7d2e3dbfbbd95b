package disk

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
)

// LockLog takes the lock of a log. A busy one is STORE_LOCKED for a log of the store and
// SESSION_LOCKED for one of a session: callers wait for a session, while a busy store is caused by
// a cleanup. Of a log without a directory the error is fs.ErrNotExist.
func (d *Disk) LockLog(ctx context.Context, log manifest.Log, mode lock.Mode) (*lock.Held, error) {
	held, err := d.Acquire(ctx, layout.LockName(log), mode, d.LockWait)
	return held, BusyLogFault(err, log)
}

// BusyLogFault maps the error of a lock of a log, or of its side logs, as LockLog does.
func BusyLogFault(err error, log manifest.Log) error {
	if log.Table.OwnerField == "storeId" {
		return BusyFault(err, fault.StoreLocked, log.Root)
	}
	return BusyFault(err, fault.SessionLocked, log.Owner)
}

// LockUse takes the use lock: shared by a commit, exclusively by every operation that unlinks or
// moves files (docs/design.md#commit-protocol). A busy lock is STORE_LOCKED.
func (d *Disk) LockUse(ctx context.Context, mode lock.Mode) (*lock.Held, error) {
	held, err := d.Acquire(ctx, layout.UseLock, mode, d.LockWait)
	return held, BusyFault(err, fault.StoreLocked, "the store")
}

// LockToWrite is ToWrite followed by LockUse: what every change outside the logs begins with.
func (d *Disk) LockToWrite(ctx context.Context, mode lock.Mode) (*lock.Held, error) {
	if _, err := d.ToWrite(); err != nil {
		return nil, err
	}
	return d.LockUse(ctx, mode)
}
