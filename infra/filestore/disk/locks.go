package disk

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
)

// BusyLogFault maps a busy lock to STORE_LOCKED for a log of the store and to SESSION_LOCKED for
// one of a session: callers wait for a session, while a busy store is caused by a cleanup.
func (d *Disk) BusyLogFault(err error, log manifest.Log) error {
	if log.Table.OwnerField == "storeId" {
		return BusyFault(err, fault.StoreLocked, log.Root)
	}
	return BusyFault(err, fault.SessionLocked, log.Owner)
}

// LockUse takes the use lock exclusively, which excludes commits. Every operation that
// unlinks or moves files holds it (docs/design.md#commit-protocol). A busy lock is STORE_LOCKED.
func (d *Disk) LockUse(ctx context.Context) (*lock.Held, error) {
	held, err := d.Locks.Acquire(ctx, layout.UseLock, lock.Exclusive, d.LockWait)
	if err != nil {
		return nil, BusyFault(err, fault.StoreLocked, "the store")
	}
	return held, nil
}
