package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// performerLock is held by whoever carries out a run of a session (R23).
const performerLock = ".performer.lock"

// useAlone keeps commits away: whoever unlinks or moves anything holds it (R6).
func (s *Store) useAlone(ctx context.Context) (*lock.Held, error) {
	held, err := s.locks.Acquire(ctx, useLock, lock.Exclusive, s.o.LockWait)
	if err != nil {
		return nil, busyFault(err, fault.StoreLocked, "the store")
	}
	return held, nil
}

// quiet are the locks under which nobody writes to a session or is about to.
type quiet struct {
	logs []*lock.Held
	use  *lock.Held
}

// letWriters gives the session's own locks back and keeps commits away.
func (q *quiet) letWriters() {
	for _, h := range slices.Backward(q.logs) {
		_ = h.Unlock()
	}
	q.logs = nil
}

func (q *quiet) end() {
	q.letWriters()
	if q.use != nil {
		_ = q.use.Unlock()
	}
}

// quieten takes the locks in the order in which writers do, a log's before the use
// lock: the other way round, two of them would wait for each other.
func (s *Store) quieten(ctx context.Context, session id.Session) (*quiet, error) {
	q := &quiet{}
	err := s.takeAll(ctx, session, q)
	if err == nil {
		return q, nil
	}
	q.end()
	var known *fault.Fault
	switch {
	case errors.As(err, &known):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.SessionNotFound, "the store holds no session %s", session)
	}
	return nil, s.busyLog(err, manifest.SessionEvents(session))
}

func (s *Store) takeAll(ctx context.Context, session id.Session, q *quiet) (err error) {
	dir := sessionDir(session)
	own, err := s.locks.Acquire(ctx, lockName(manifest.SessionEvents(session)), lock.Exclusive, s.o.LockWait)
	if err != nil {
		return err
	}
	q.logs = append(q.logs, own)
	// No wait: a command may run for hours.
	performer, err := s.locks.Acquire(ctx, path.Join(dir, performerLock), lock.Exclusive, 0)
	if err != nil {
		return busyFault(err, fault.RunBusy, "a run of session "+session.String())
	}
	q.logs = append(q.logs, performer)
	locked := map[string]bool{}
	if err := s.lockSides(ctx, dir, q, locked, s.o.LockWait); err != nil {
		return err
	}
	if q.use, err = s.useAlone(ctx); err != nil {
		return err
	}
	// Side logs that came meanwhile: who writes to one would go on with a file that was
	// moved away. Here nothing may be waited for.
	return s.lockSides(ctx, dir, q, locked, 0)
}

// lockSides locks the side logs of a session that are not locked yet.
func (s *Store) lockSides(ctx context.Context, dir string, q *quiet, locked map[string]bool, wait time.Duration) error {
	entries, err := s.fs.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name, ".lock")
		if e.Kind != osfs.Directory || locked[name] {
			continue
		}
		if _, there, err := s.stat(name); err != nil || !there {
			if err != nil {
				return err
			}
			continue // nobody ever wrote there
		}
		held, err := s.locks.Acquire(ctx, name, lock.Exclusive, wait)
		if err != nil {
			return err
		}
		locked[name] = true
		q.logs = append(q.logs, held)
	}
	return nil
}
