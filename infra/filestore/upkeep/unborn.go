package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
)

// removeUnborn removes the directory of a session to which nothing was committed, unless a process
// holds one of its locks or it has a file that no first commit writes. The use lock is held.
//
// gone is true when the directory no longer exists, also when another process removed it.
func (k *Keeper) removeUnborn(ctx context.Context, session id.Session) (gone bool, err error) {
	log := manifest.SessionEvents(session)
	held, busy, err := k.tryLock(ctx, layout.LockName(log))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // another process removed it
	}
	if busy || err != nil {
		return false, err
	}
	defer held.Unlock()
	entries, err := k.d.List(log.Root)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !slices.Contains(layout.RemovableUnborn, e.Name) && !layout.IsTemp(e.Name) {
			return false, nil
		}
	}
	verdict, err := k.read.Read(ctx, ports.ReadRequest{Log: log, Locked: true}, ports.Skip)
	if err != nil || !verdict.Unborn() {
		return false, err
	}
	if performer, busy, err := k.tryLock(ctx, layout.PerformerPath(session)); busy || err != nil {
		return false, err
	} else {
		_ = performer.Unlock()
	}
	if layout.MoveNeedsClosedFiles {
		_ = held.Unlock()
	}
	return true, k.removeTree(log.Root)
}

// tryLock takes a lock without waiting; taken is true when another process holds it. Under the use
// lock no lock may be waited for, since writers wait for the use lock while they hold theirs.
func (k *Keeper) tryLock(ctx context.Context, name string) (held *lock.Held, taken bool, err error) {
	held, err = k.d.Acquire(ctx, name, lock.Exclusive, 0)
	var busy *lock.Busy
	if errors.As(err, &busy) {
		return nil, true, nil
	}
	return held, false, disk.WriteFault(err)
}
