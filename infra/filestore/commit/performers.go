package commit

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
)

// Performers gives the locks that keep the performers of a session apart: a lock file
// beside the log of each session, which a process holds for as long as it performs a run.
func (c *Committer) Performers() ports.Performers { return performers{c.d.Locks} }

// performers implements ports.Performers.
type performers struct{ locks *lock.Locks }

// Hold implements ports.Performers.
func (p performers) Hold(ctx context.Context, s id.Session) (ports.Lease, error) {
	held, err := p.locks.Acquire(ctx, performerLock(s), lock.Exclusive, 0)
	if err == nil {
		return ports.Lease{Release: held.Unlock}, nil
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return ports.Lease{}, fault.Wrap(err, fault.StoreReadOnly,
			"the store cannot be written, so its runs cannot be performed")
	}
	return ports.Lease{}, performed(err, s)
}

// performerLock is the path of the performer's lock of a session.
func performerLock(s id.Session) string { return "sessions/" + s.String() + "/" + layout.PerformerLock }

// NotPerformed implements ports.PerformerStatus: without a lock file there is no performer.
func (c *Committer) NotPerformed(ctx context.Context, s id.Session) error {
	held, err := c.d.Locks.Acquire(ctx, performerLock(s), lock.SharedIfExists, 0)
	if err == nil {
		return held.Unlock()
	}
	return performed(err, s)
}

// performed is the fault for a performer's lock that cannot be taken.
func performed(err error, s id.Session) error {
	var busy *lock.Busy
	if !errors.As(err, &busy) {
		return fault.Wrap(err, fault.StoreIO, "the performer's lock cannot be taken: %v", err)
	}
	f := ports.BusyPerformer(s, ports.Holder{PID: busy.PID})
	if busy.PID != 0 {
		f.With("holderPid", busy.PID)
	}
	return f
}
