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
	held, err := p.locks.Acquire(ctx, "sessions/"+s.String()+"/"+layout.PerformerLock, lock.Exclusive, 0)
	if err == nil {
		return ports.Lease{Release: held.Unlock}, nil
	}
	var busy *lock.Busy
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return ports.Lease{}, fault.Wrap(err, fault.StoreReadOnly,
			"the store cannot be written, so its runs cannot be performed")
	}
	if !errors.As(err, &busy) {
		return ports.Lease{}, fault.Wrap(err, fault.StoreIO, "the performer's lock cannot be taken: %v", err)
	}
	f := ports.BusyPerformer(s, ports.Holder{PID: busy.PID})
	if busy.PID != 0 {
		f.With("holderPid", busy.PID)
	}
	return ports.Lease{}, f
}
