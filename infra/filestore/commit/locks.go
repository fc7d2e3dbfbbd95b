package commit

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/lock"
)

// Lock implements ports.Locks. It creates the directory of a log that does not exist yet, and with
// it the store, since the lock is the first file of a first commit. A busy lock is SESSION_LOCKED,
// or STORE_LOCKED for a log of the store. The returned function releases the lock; calling it again
// does nothing.
//
// Lock order, which every operation of a store keeps:
//   - the lock of a log first;
//   - then the performer lock of the session, which is taken without waiting;
//   - then the locks of the side logs of the session;
//   - the use lock last.
//
// An operation that holds the use lock exclusively takes other locks without waiting (tryLock).
// Only an import waits for the lock of an unborn session while it holds the use lock, and it holds
// it shared.
func (c *Committer) Lock(ctx context.Context, log manifest.Log) (func() error, error) {
	if _, err := c.d.ToWrite(); err != nil {
		return nil, err
	}
	held, err := c.acquire(ctx, log)
	// A first commit that failed before may have left a directory entry that exists in memory only.
	// Removing and recreating it makes the coming sync meaningful: see removeUncommitted.
	if err == nil && c.removeUncommitted(log, held) {
		_ = held.Unlock()
		if held, err = c.acquire(ctx, log); err == nil {
			_ = held.SetNote(OpenNote(c.d)) // the objects of that commit are as unreliable as its log was
		}
	}
	if err != nil {
		return nil, err
	}
	c.held.Store(log.Root, held)
	// Once: a second call would release a lock that another goroutine acquired in between.
	return sync.OnceValue(func() error {
		c.held.Delete(log.Root)
		return disk.WriteFault(held.Unlock())
	}), nil
}

// mkdirTriesMax bounds how often the directory of a log is created again while its lock is
// acquired. Each removal by a cleanup costs one try; so many removals have another cause, and end
// the loop.
const mkdirTriesMax = 100

// acquire takes the exclusive lock of a log and creates the directory of the log where it is
// missing.
func (c *Committer) acquire(ctx context.Context, log manifest.Log) (held *lock.Held, err error) {
	for range mkdirTriesMax {
		held, err = c.d.LockLog(ctx, log, lock.Exclusive)
		if !errors.Is(err, fs.ErrNotExist) {
			return held, err
		}
		// A cleanup may remove the directory before the lock is in it, but never removes its
		// parent.
		if _, err := c.d.Mkdirs(log.Root); disk.UnlessMissing(err) != nil {
			return nil, disk.WriteFault(err)
		}
	}
	return held, err
}

// heldLock returns the lock of a log if this store took it. A ports.Witness is bound to a log's
// root only; this check binds it to this store as well.
func (c *Committer) heldLock(log manifest.Log) (*lock.Held, bool) {
	value, _ := c.held.Load(log.Root)
	held, ok := value.(*lock.Held)
	return held, ok
}
