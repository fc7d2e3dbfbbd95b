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

// movesOnlyClosed: on Windows a folder with open files in it cannot be moved. The
// locks in it are let go first there; what another process opens in between keeps the
// folder where it is.
const movesOnlyClosed = runtime.GOOS == "windows"

// Alone implements ports.Retention.
func (s *Store) Alone(ctx context.Context, do func(ports.Broom) error) error {
	if _, err := s.toWrite(); err != nil {
		return err
	}
	held, err := s.useAlone(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	b := &broom{s: s, ctx: ctx, open: true, touched: map[string]bool{}}
	defer func() { b.open = false }()
	err = do(b)
	// For tidiness only: what comes back after a power cut is found again.
	for dir := range b.touched {
		_ = s.fs.SyncDir(dir, osfs.Order)
	}
	return err
}

// broom removes things while the use lock is held. It is used by one goroutine.
type broom struct {
	s       *Store
	ctx     context.Context
	open    bool
	touched map[string]bool
}

// ready refuses a broom that outlived its lock: it would race writers.
func (b *broom) ready() error {
	if !b.open {
		return fault.New(fault.Internal, "something was to be removed without the store's lock")
	}
	return readFault(b.ctx.Err())
}

// Object implements ports.Broom.
func (b *broom) Object(kind manifest.ObjectKind, ref canon.Digest) error {
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

// Leftover implements ports.Broom.
func (b *broom) Leftover(name string) (gone bool, err error) {
	if err := b.ready(); err != nil {
		return false, err
	}
	dir := path.Dir(name)
	if !fs.ValidPath(name) || !strings.HasPrefix(path.Base(name), tempPrefix) {
		return false, fault.New(fault.Internal, "%q is no leftover", name)
	}
	if dir == path.Dir(keyringFile) {
		return false, nil // a keyring is made without the lock that is held here
	}
	// A manifest is copied under its log's lock alone.
	if _, there, err := b.s.stat(path.Join(dir, ".lock")); err != nil {
		return false, readFault(err)
	} else if there {
		held, busy, err := b.s.tryLock(b.ctx, path.Join(dir, ".lock"))
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil // the folder was removed with it
		}
		if busy || err != nil {
			return false, err
		}
		defer held.Unlock()
	}
	b.touched[dir] = true
	return true, writeFault(b.s.removeAll(name))
}

// Unborn implements ports.Broom.
func (b *broom) Unborn(session id.Session) (gone bool, err error) {
	if err := b.ready(); err != nil {
		return false, err
	}
	gone, err = b.s.removeUnborn(b.ctx, session)
	return gone, writeFault(err)
}

// tryLock takes a lock that nobody has: under the use lock nothing may be waited for,
// since writers wait for that while they hold theirs.
func (s *Store) tryLock(ctx context.Context, name string) (held *lock.Held, taken bool, err error) {
	held, err = s.locks.Acquire(ctx, name, lock.Exclusive, 0)
	var busy *lock.Busy
	if errors.As(err, &busy) {
		return nil, true, nil
	}
	return held, false, writeFault(err)
}

// sessionsLost tells a store that lost its sessions as a whole, with a folder that was
// moved away or a disk that is not mounted, from one that never had any: it was made
// with that folder. Without its logs everything else in it would look unneeded.
func (s *Store) sessionsLost() error {
	st, err := s.standing()
	if err != nil || !st.there || st.foreign {
		return err
	}
	// Looked for once more: the store may have been made since it was missed.
	if _, there, err := s.stat("sessions"); err != nil || there {
		return err
	}
	return fault.New(fault.StoreCorrupt, "the folder sessions is not there, though the store was made with it").
		Suggest("Bring it back, or make an empty one if nothing that was in it is needed.")
}
