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
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Exclusive implements ports.Retention. It calls do under the exclusive use lock; the value passed to
// do must not be used afterwards.
//
// Removals are synced once at the end, per directory. STORE_LOCKED is returned when a commit was in
// progress for as long as LockWait.
func (k *Keeper) Exclusive(ctx context.Context, do func(ports.Sweeper) error) error {
	if _, err := k.d.ToWrite(); err != nil {
		return err
	}
	held, err := k.d.LockUse(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	b := &sweeper{s: k, ctx: ctx, open: true, touched: map[string]bool{}}
	defer func() { b.open = false }()
	err = do(b)
	// Best effort: a removal that a power cut undoes is found by the next cleanup.
	for dir := range b.touched {
		_ = k.d.SyncDir(dir, osfs.Order)
	}
	return err
}

// sweeper removes files while the use lock is held. It is used by one goroutine.
type sweeper struct {
	s       *Keeper
	ctx     context.Context
	open    bool            // the use lock is held
	touched map[string]bool // directories to sync at the end
}

// ready refuses a sweeper that is used after its lock was released, since it would race writers:
// INTERNAL. A canceled context is INTERRUPTED.
func (b *sweeper) ready() error {
	if !b.open {
		return fault.New(fault.Internal, "a removal was requested without the store's lock")
	}
	return disk.ReadFault(b.ctx.Err())
}

// RemoveObject removes the file of an object. A missing one is not an error.
func (b *sweeper) RemoveObject(kind manifest.ObjectKind, ref canon.Digest) error {
	err := b.ready()
	if err == nil {
		dir := manifest.ObjectDir(kind)
		b.touched[dir] = true
		err = b.s.d.Remove(path.Join(dir, manifest.ObjectName(kind, ref)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return disk.WriteFault(err)
}

// RemoveLeftover removes a temporary file or directory that Survey listed. gone is false where a process
// may still use it. Any other name is INTERNAL.
func (b *sweeper) RemoveLeftover(name string) (gone bool, err error) {
	if err := b.ready(); err != nil {
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
	if _, exists, err := b.s.d.Lookup(path.Join(dir, ".lock")); err != nil {
		return false, disk.ReadFault(err)
	} else if exists {
		held, busy, err := b.s.tryLock(b.ctx, path.Join(dir, ".lock"))
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil // its directory was removed
		}
		if busy || err != nil {
			return false, err
		}
		defer held.Unlock()
	}
	b.touched[dir] = true
	return true, disk.WriteFault(b.s.d.RemoveAll(name))
}

// RemoveUnborn removes the directory of a session without commits; see removeUnborn.
func (b *sweeper) RemoveUnborn(session id.Session) (gone bool, err error) {
	if err := b.ready(); err != nil {
		return false, err
	}
	gone, err = b.s.removeUnborn(b.ctx, session)
	return gone, disk.WriteFault(err)
}
