package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// moveNeedsClosedFiles: Windows refuses to move a directory with open files in it. There the locks
// inside a directory are released before the move; a file that another process opens in between
// makes the move fail.
const moveNeedsClosedFiles = runtime.GOOS == "windows"

// Exclusive implements ports.Retention. It calls do under the exclusive use lock; the value passed to
// do must not be used afterwards.
//
// Removals are synced once at the end, per directory. STORE_LOCKED is returned when a commit was in
// progress for as long as LockWait.
func (s *Store) Exclusive(ctx context.Context, do func(ports.Sweeper) error) error {
	if _, err := s.toWrite(); err != nil {
		return err
	}
	held, err := s.lockUseExclusive(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	b := &sweeper{s: s, ctx: ctx, open: true, touched: map[string]bool{}}
	defer func() { b.open = false }()
	err = do(b)
	// Best effort: a removal that a power cut undoes is found by the next cleanup.
	for dir := range b.touched {
		_ = s.fs.SyncDir(dir, osfs.Order)
	}
	return err
}

// sweeper removes files while the use lock is held. It is used by one goroutine.
type sweeper struct {
	s       *Store
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
	return readFault(b.ctx.Err())
}

// RemoveObject removes the file of an object. A missing one is not an error.
func (b *sweeper) RemoveObject(kind manifest.ObjectKind, ref canon.Digest) error {
	err := b.ready()
	if err == nil {
		dir := manifest.ObjectDir(kind)
		b.touched[dir] = true
		err = b.s.fs.Remove(path.Join(dir, manifest.ObjectName(kind, ref)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return writeFault(err)
}

// RemoveLeftover removes a temporary file or directory that Survey listed. gone is false where a process
// may still use it. Any other name is INTERNAL.
func (b *sweeper) RemoveLeftover(name string) (gone bool, err error) {
	if err := b.ready(); err != nil {
		return false, err
	}
	dir := path.Dir(name)
	if !fs.ValidPath(name) || !strings.HasPrefix(path.Base(name), tempPrefix) {
		return false, fault.New(fault.Internal, "%q is not a temporary file", name)
	}
	if dir == path.Dir(keyringFile) {
		return false, nil // Keys creates the keyring without the use lock
	}
	// A copy of a manifest is written under its log's lock only.
	if _, exists, err := b.s.stat(path.Join(dir, ".lock")); err != nil {
		return false, readFault(err)
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
	return true, writeFault(b.s.removeAll(name))
}

// RemoveUnborn removes the directory of a session without commits; see removeUnborn.
func (b *sweeper) RemoveUnborn(session id.Session) (gone bool, err error) {
	if err := b.ready(); err != nil {
		return false, err
	}
	gone, err = b.s.removeUnborn(b.ctx, session)
	return gone, writeFault(err)
}

// tryLock takes a lock without waiting; taken is true when another process holds it. Under the use
// lock no lock may be waited for, since writers wait for the use lock while they hold theirs.
func (s *Store) tryLock(ctx context.Context, name string) (held *lock.Held, taken bool, err error) {
	held, err = s.locks.Acquire(ctx, name, lock.Exclusive, 0)
	var busy *lock.Busy
	if errors.As(err, &busy) {
		return nil, true, nil
	}
	return held, false, writeFault(err)
}

// checkSessionsDir returns STORE_CORRUPT for a store without the directory sessions, with which
// every store is created: it was moved away, or its disk is not mounted. Without the logs every
// other file would look unreferenced, and a cleanup would remove it.
func (s *Store) checkSessionsDir() error {
	st, err := s.state()
	if err != nil || !st.exists || st.foreign {
		return err
	}
	// Checked again: the store may have been created after the listing failed.
	if _, exists, err := s.stat("sessions"); err != nil || exists {
		return err
	}
	return fault.New(fault.StoreCorrupt, "the directory sessions is missing, although the store was created with it").
		Suggest("Restore it, or create an empty one if none of its sessions are needed.")
}
