package pgstore

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// Exclusive implements ports.Retention. The removals are made in the transaction that has the use-lock: a lock that was lost with its
// connection removes nothing. What do removed before an error of its own is removed.
func (s *keeper) Exclusive(ctx context.Context, do func(ports.Sweeper) error) error {
	c, err := s.db.Transaction(ctx, db.IdleStatement())
	if err != nil {
		return err
	}
	if err := s.db.Alone(ctx, c); err != nil {
		s.db.Rollback(c)
		return err
	}
	w := &sweeper{s: s, kept: db.Keep(c, db.LongMost), open: true}
	defer func() { w.open = false; s.db.Rollback(w.kept.End()) }() // do may panic
	err = do(w)
	w.open = false
	if w.failed == nil {
		w.failed = w.flush(ctx)
	}
	if w.failed != nil {
		if err == nil {
			err = w.failed
		}
		return err
	}
	if !w.changed {
		return err
	}
	done, finishErr := s.db.Finish(ctx, w.kept.End(), nil)
	if finishErr == nil && !done {
		finishErr = fault.New(fault.StoreOutcomeUnknown, "the connection to the database was lost during a cleanup, and it is not known "+
			"whether anything was removed").Suggest("Repeat it.")
	}
	if err == nil {
		err = finishErr
	}
	return err
}

// sweeper implements ports.Sweeper. It is used by one goroutine.
type sweeper struct {
	s       *keeper
	kept    *db.Kept
	open    bool // Exclusive has not returned
	changed bool // something is removed
	pending []db.Statement
	failed  error // the first error of a removal, which has ended the transaction
}

// do runs a removal. After Exclusive it is INTERNAL.
func (w *sweeper) do(ctx context.Context, remove func() error) error {
	switch {
	case !w.open:
		return fault.New(fault.Internal, "a removal was requested without the store's lock")
	case w.failed != nil:
		return w.failed
	case ctx.Err() != nil:
		return fault.Wrap(ctx.Err(), fault.Interrupted, "using the store was interrupted")
	}
	return remove()
}

// run runs statements behind the pending ones.
func (w *sweeper) run(ctx context.Context, all ...db.Statement) error {
	all = append(w.pending, all...)
	w.pending = nil
	if len(all) == 0 {
		return nil
	}
	w.failed = db.Failure(ctx, w.kept.Run(ctx, all...))
	return w.failed
}

// flush sends the pending statements.
func (w *sweeper) flush(ctx context.Context) error { return w.run(ctx) }

// RemoveObject implements ports.Sweeper. Removals are sent together.
func (w *sweeper) RemoveObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) error {
	return w.do(ctx, func() error {
		w.changed = true
		w.pending = append(w.pending, db.Query("delete from @.objects where kind = $1 and ref = $2", string(kind), ref.String()))
		if len(w.pending) < pendingCountMost {
			return nil
		}
		return w.flush(ctx)
	})
}

// RemoveLeftover implements ports.Sweeper: there are none.
func (w *sweeper) RemoveLeftover(ctx context.Context, place string) (gone bool, err error) {
	return false, w.do(ctx, func() error { return fault.New(fault.Internal, "%q is not left over", place) })
}

// RemoveUnborn implements ports.Sweeper. A session without commits has no row: what keeps it is a writer or a performer.
func (w *sweeper) RemoveUnborn(ctx context.Context, session id.Session) (gone bool, err error) {
	own := manifest.SessionEvents(session)
	err = w.do(ctx, func() error {
		return w.run(ctx, db.Query("select pg_try_advisory_xact_lock($1) and pg_try_advisory_xact_lock($2) "+
			"and not exists (select from @.logs where "+rows.Within("root", 3)+") "+
			"and not exists (select from @.leases where session = $4 and "+isPresent+")",
			db.LockName(own.Root), db.LockName(rows.SideLock(session)), own.Root, session.String()).
			Into(func(r db.Row) error { gone = r.IsTrue(0); return nil }))
	})
	return gone, err
}

// RemoveLog implements ports.Sweeper. Its lock is not waited for: a writer waits for the use-lock while it holds it.
func (w *sweeper) RemoveLog(ctx context.Context, log manifest.Log, head manifest.Head) (gone bool, err error) {
	err = w.do(ctx, func() error {
		if _, err := id.ParseStore(log.Owner); err != nil || log.Root != log.Table.Name {
			return fault.New(fault.Internal, "%s is no side log of the store", log.Root)
		}
		free, found := false, false
		var now manifest.Head
		err := w.run(ctx,
			db.Query("select pg_try_advisory_xact_lock($1)", db.LockName(log.Root)).Into(func(r db.Row) error { free = r.IsTrue(0); return nil }),
			db.Query("select "+rows.HeadColumns+" from @.logs where root = $1", log.Root).Into(func(r db.Row) (err error) {
				found = true
				now, err = rows.HeadOf(r, 0)
				return err
			}))
		switch {
		case err != nil || !free:
			return err
		case !found:
			gone = true
			return nil
		// The digest of the last group covers, through the chain, every group before it.
		case now.Digest != head.Digest || now.Bytes != head.Bytes:
			return nil
		}
		gone, w.changed = true, true
		return w.run(ctx, db.Query("delete from @.logs where root = $1", log.Root), db.Query("delete from @.heads where root = $1", log.Root))
	})
	return gone && err == nil, err
}
