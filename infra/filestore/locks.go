package filestore

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
)

// useLock is held shared while a commit refers to objects, and exclusively by
// whoever unlinks any (R6).
const useLock = ".use.lock"

func lockName(log manifest.Log) string { return log.Root + "/.lock" }

// Lock implements ports.Locks. The folder of a log that is not there yet is made,
// and with it the store: a lock is the first thing that a first commit needs.
func (s *Store) Lock(ctx context.Context, log manifest.Log) (func() error, error) {
	if _, err := s.toWrite(); err != nil {
		return nil, err
	}
	held, err := s.acquire(ctx, log)
	// A first commit that failed on the way here may have left a folder that only
	// memory holds; see anew.
	if err == nil && s.anew(log, held) {
		_ = held.Unlock()
		if held, err = s.acquire(ctx, log); err == nil {
			_ = held.SetNote(s.openNote()) // its objects are as doubtful as the log was
		}
	}
	if err != nil {
		return nil, s.busyLog(err, log)
	}
	s.mu.Lock()
	s.held[log.Root] = held
	s.mu.Unlock()
	// Once: a second call would let go of a lock that another goroutine took since.
	return sync.OnceValue(func() error {
		s.letGo(log)
		return writeFault(held.Unlock())
	}), nil
}

// foldersMade bounds how often a log's folder is made anew. A cleanup that takes an
// empty one away costs one; so many are no cleanup's.
const foldersMade = 100

// acquire takes the exclusive lock of a log, in a folder made for it if need be.
func (s *Store) acquire(ctx context.Context, log manifest.Log) (held *lock.Held, err error) {
	for range foldersMade {
		held, err = s.locks.Acquire(ctx, lockName(log), lock.Exclusive, s.o.LockWait)
		if !errors.Is(err, fs.ErrNotExist) {
			return held, err
		}
		// A cleanup may take the folder away before the lock is in it, and its parent never.
		if _, err := s.mkdirs(log.Root); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return held, err
}

func (s *Store) letGo(log manifest.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, log.Root)
}

// holding is the lock of a log if this store took it. A witness is bound to a log's
// root; that it also is this store's lock is checked here.
func (s *Store) holding(log manifest.Log) (*lock.Held, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, ok := s.held[log.Root]
	return held, ok
}

// busyLog tells a session that is busy from a log of the store that is: callers
// wait for the one, and look for a cleanup in the other case.
func (s *Store) busyLog(err error, log manifest.Log) error {
	if log.Table.OwnerField == "storeId" {
		return busyFault(err, fault.StoreLocked, log.Root)
	}
	return busyFault(err, fault.SessionLocked, log.Owner)
}
