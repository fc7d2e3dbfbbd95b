package filestore

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/manifest"
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
	held, err := s.locks.Acquire(ctx, lockName(log), lock.Exclusive, s.o.LockWait)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = s.mkdirs(log.Root); err != nil {
			return nil, writeFault(err)
		}
		held, err = s.locks.Acquire(ctx, lockName(log), lock.Exclusive, s.o.LockWait)
	}
	if err != nil {
		return nil, s.busyLog(err, log)
	}
	s.mu.Lock()
	s.held[log.Root] = held
	s.mu.Unlock()
	return sync.OnceValue(func() error {
		s.letGo(log)
		return writeFault(held.Unlock())
	}), nil
}

func (s *Store) letGo(log manifest.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, log.Root)
}

// holding is the lock of a log if this store took it.
func (s *Store) holding(log manifest.Log) (*lock.Held, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, ok := s.held[log.Root]
	return held, ok
}

func (s *Store) busyLog(err error, log manifest.Log) error {
	if log.Table.OwnerField == "storeId" {
		return busyFault(err, fault.StoreLocked, log.Root)
	}
	return busyFault(err, fault.SessionLocked, log.Owner)
}

// tidyNote is what a writer leaves in the lock file behind a commit: nothing but
// committed segments lies in this log as long as its head is that one. The next
// writer then spares listing the folder, which grows with history.
//
// It is not synced, so it is believed only within the run of the machine that
// wrote it: within one, everybody reads what was written last. Should an older
// note come back all the same, an orphan stays where it is: no reader minds it,
// and its name is noticed when a segment is placed. "" says nothing.
func (s *Store) tidyNote(head canon.Digest) string {
	if s.o.Boot == "" || head.IsZero() {
		return ""
	}
	return s.o.Boot + "/" + head.FileName()
}
