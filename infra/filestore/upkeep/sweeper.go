package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Exclusive implements ports.Retention. It calls do under the exclusive use lock; the value passed to
// do must not be used afterwards.
//
// Removals are synced once at the end, per directory. STORE_LOCKED is returned when a commit was in
// progress for as long as LockWait.
func (k *Keeper) Exclusive(ctx context.Context, do func(ports.Sweeper) error) error {
	held, err := k.d.LockToWrite(ctx, lock.Exclusive)
	if err != nil {
		return err
	}
	defer held.Unlock()
	w := &sweeper{k: k, open: true, touched: map[string]bool{}}
	defer func() { w.open = false }()
	err = do(w)
	// Best effort: a removal that a power cut undoes is found by the next cleanup.
	for dir := range w.touched {
		_ = k.d.SyncDir(dir, osfs.Order)
	}
	return err
}

// sweeper removes files while the use lock is held. It is used by one goroutine.
type sweeper struct {
	k       *Keeper
	open    bool            // the use lock is held
	touched map[string]bool // directories to sync at the end
}

// ready refuses a sweeper that is used after its lock was released, since it would race writers:
// INTERNAL. A canceled context is INTERRUPTED.
func (w *sweeper) ready(ctx context.Context) error {
	if !w.open {
		return fault.New(fault.Internal, "a removal was requested without the store's lock")
	}
	return disk.ReadFault(ctx.Err())
}

// RemoveObject removes the file of an object. A missing one is not an error.
func (w *sweeper) RemoveObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) error {
	err := w.ready(ctx)
	if err == nil {
		dir := manifest.ObjectDir(kind)
		w.touched[dir] = true
		err = w.k.d.Remove(layout.ObjectPath(kind, ref))
	}
	return disk.WriteFault(disk.UnlessMissing(err))
}

// RemoveLeftover removes a temporary file or directory that Survey listed. gone is false where a process
// may still use it. Any other name is INTERNAL.
func (w *sweeper) RemoveLeftover(ctx context.Context, name string) (gone bool, err error) {
	if err := w.ready(ctx); err != nil {
		return false, err
	}
	dir := path.Dir(name)
	if !fs.ValidPath(name) || !strings.HasPrefix(path.Base(name), layout.TempPrefix) {
		return false, fault.New(fault.Internal, "%q is not a temporary file", name)
	}
	if dir == path.Dir(layout.KeyringFile) {
		return false, nil // Keys creates the keyring without the use lock
	}
	// A copy of a manifest is written under its log's lock only.
	if _, exists, err := w.k.d.Lookup(path.Join(dir, ".lock")); err != nil {
		return false, disk.ReadFault(err)
	} else if exists {
		held, busy, err := w.k.tryLock(ctx, path.Join(dir, ".lock"))
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil // its directory was removed
		}
		if busy || err != nil {
			return false, err
		}
		defer held.Unlock()
	}
	w.touched[dir] = true
	return true, disk.WriteFault(w.k.d.RemoveAll(name))
}

// RemoveUnborn removes the directory of a session without commits; see removeUnborn.
func (w *sweeper) RemoveUnborn(ctx context.Context, session id.Session) (gone bool, err error) {
	if err := w.ready(ctx); err != nil {
		return false, err
	}
	gone, err = w.k.removeUnborn(ctx, session)
	return gone, disk.WriteFault(err)
}
