package read

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// lockTriesMax bounds how often WithoutChanges starts over because the log appeared while it was locked. Each try needs
// another process that moves the log.
const lockTriesMax = 100

// WithoutChanges implements ports.Inspector. The lock of the log, shared, excludes writers of the log and processes that move it. A
// log without a lock file may not exist: then the use lock, shared, keeps a log from being moved to its place. No lock
// file is created, and a store without any is read as it is.
func (r *Reader) WithoutChanges(ctx context.Context, log manifest.Log, do func() error) error {
	for range lockTriesMax {
		held, retry, err := r.lockShared(ctx, log)
		if err != nil {
			return disk.ReadFault(err)
		}
		if retry {
			held.Unlock()
			continue
		}
		defer held.Unlock()
		return do()
	}
	return disk.BusyLogFault(&lock.Busy{}, log)
}

// lockShared takes the locks of WithoutChanges, in the order of writers. retry reports that the lock file of the log
// appeared in between; the caller unlocks held in any case.
func (r *Reader) lockShared(ctx context.Context, log manifest.Log) (held lock.Set, retry bool, err error) {
	own, err := r.d.LockLog(ctx, log, lock.SharedIfExists)
	if isNoDirectory(err) { // no lock of a writer can be behind it
		own, err = &lock.Held{}, nil
	}
	if err := held.Add(own, err); err != nil || own.IsLocked() {
		return held, false, err
	}
	use, err := r.d.LockUse(ctx, lock.SharedIfExists)
	if err := held.Add(use, err); err != nil || !use.IsLocked() {
		return held, false, err
	}
	_, retry, err = r.d.Lookup(layout.LockName(log))
	return held, retry && err == nil, nil
}

// isNoDirectory reports a link or file in place of a log's directory, or of its lock file.
func isNoDirectory(err error) bool {
	return errors.Is(err, osfs.ErrSymlink) || errors.Is(err, osfs.ErrNotRegular) || osfs.IsNotDirectory(err)
}
