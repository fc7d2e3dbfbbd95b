package pgstore

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/logs"
	"github.com/waybill/waybill/ports"
)

// extension is the import of events that continue logs of a session. Its transaction is the one that holds the lock of the first
// log; those of the other locks are kept until its end. Should one of them be lost, the comparison of heads in the commit finds
// what another writer did meanwhile.
type extension struct {
	arrival
	leave  []func()
	leases []db.Change
}

// BeginExtension implements ports.SessionImporter.
func (s *Store) BeginExtension(ctx context.Context, session id.Session, extended []ports.Extended) (ports.SessionImport, error) {
	if len(extended) == 0 {
		return nil, fault.New(fault.Internal, "session %s is extended without a log", session)
	}
	x := &extension{}
	err := s.beginExtension(ctx, x, session, extended)
	if err != nil {
		x.leaveAll()
		return nil, err
	}
	return x, nil
}

// beginExtension compares the logs with their heads, and takes the transaction of the first one.
func (s *Store) beginExtension(ctx context.Context, x *extension, session id.Session, extended []ports.Extended) error {
	var all []*logs.Held
	for _, to := range extended {
		leave, err := to.Witness.Enter(to.Log)
		if err != nil {
			return err
		}
		x.leave = append(x.leave, leave)
		h := s.Held(to.Log)
		if h == nil {
			return ports.ErrWitness
		}
		if err := h.IsAt(ctx, to.At); err != nil {
			return err
		}
		all = append(all, h)
		if to.Lease != 0 {
			x.leases = append(x.leases, s.leased(to.Log.Owner, to.Lease))
		}
	}
	a, err := s.newArrival(session)
	if err != nil {
		return err
	}
	x.arrival = *a
	for _, to := range extended {
		x.logs = append(x.logs, x.newLog(to.Log, to.At))
	}
	c := all[0].Take()
	if err := c.Run(ctx, db.LockStatement(db.UseLock, true)); err != nil {
		s.db.Rollback(c)
		return db.Failure(ctx, err)
	}
	x.others = all[1:]
	touches := make([]func(), len(x.others))
	for i, h := range x.others {
		touches[i] = h.Touch
	}
	x.kept = db.Keep(c, s.db.WaitingLimit(), touches...)
	return nil
}

// Segment implements ports.SessionImport.
func (x *extension) Segment(ctx context.Context, name string, seg manifest.Segment) error {
	return x.do(ctx, func() error { return x.segment(ctx, x.find(x.rootOf(name)), name, seg) })
}

// Control implements ports.SessionImport.
func (x *extension) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	if f != ports.ImportedFile || c.V != imported.Version {
		return x.do(ctx, func() error { return fault.New(fault.Internal, "%s is not part of an extension", f.Name) })
	}
	return x.arrival.Control(ctx, f, c)
}

// Commit implements ports.SessionImport. One transaction has all logs and the mark.
func (x *extension) Commit(ctx context.Context) (placed bool, err error) {
	err = x.do(ctx, func() error {
		if len(x.controls) == 0 {
			return fault.New(fault.Internal, "session %s is extended without an import mark", x.session)
		}
		if err := x.flush(ctx); err != nil {
			return err
		}
		placed, err = x.finish(ctx, x.leases)
		return err
	})
	x.ended = x.ended || err == nil
	return placed, err
}

// End implements ports.SessionImport. Locks of the other logs are left to their holder.
func (x *extension) End() error {
	err := x.arrival.End()
	x.leaveAll()
	return err
}

// leaveAll lets each lock be released.
func (x *extension) leaveAll() {
	for _, leave := range x.leave {
		leave()
	}
	x.leave = nil
}
