package pgstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports"
)

// Performers gives the port that keeps the performers of sessions apart, on all machines: each has a lease that ends by the clock of
// the database.
func (s *Store) Performers() ports.Performers { return performers{s} }

// performers implements ports.Performers with leases.
type performers struct{ s *Store }

// isPresent selects leases that are neither released nor ended.
const isPresent = "held and until > clock_timestamp()"

// leaseEnd is the end of a lease that is granted or renewed now.
func leaseEnd() string {
	return "clock_timestamp() + interval '" + strconv.Itoa(limits.LeaseMs) + " milliseconds'"
}

// Hold implements ports.Performers.
func (p performers) Hold(ctx context.Context, session id.Session) (ports.Lease, error) {
	s := p.s
	asked := s.db.Options().Clock.Now()
	token := int64(0)
	// A grant is durable before it counts: a token is never granted twice. Of two grants at a time one finds the other's row.
	grant := db.Query("insert into @.leases as l (session, token, host, pid, ref, held, until) values ($1, 1, $2, $3, $4, true, "+leaseEnd()+
		") on conflict (session) do update set token = l.token + 1, host = excluded.host, pid = excluded.pid, ref = excluded.ref, held = true, "+
		"until = excluded.until where not (l.held and l.until > clock_timestamp()) returning token",
		session.String(), s.db.Options().Who.Host, int64(s.db.Options().Who.PID), s.db.Options().Who.Ref).Into(func(r db.Row) error { token = r.Int(0); return nil })
	err := s.db.Transact(ctx, []db.Change{{Statement: grant}})
	if err != nil {
		return ports.Lease{}, err
	}
	if token == 0 {
		if err := s.NotPerformed(ctx, session); err != nil {
			return ports.Lease{}, err
		}
		return ports.Lease{}, ports.BusyPerformer(session, ports.Holder{})
	}
	kept := lease.Keep(s.db.Options().Clock, lease.Default(), asked, func(ctx context.Context) error { return s.renew(ctx, session, token) })
	confirm := func(ctx context.Context) error {
		err := s.renew(ctx, session, token)
		if errors.Is(err, lease.ErrLost) {
			err = s.lostLease(session.String())
		}
		return err
	}
	return ports.Lease{Token: token, Lost: kept.Lost(), Confirm: confirm, Release: func() error {
		kept.Stop()
		return s.release(session, token)
	}}, nil
}

// renew extends a lease that is present; lease.ErrLost for any other. It does not wait for a cleanup, which may take longer than a
// lease lasts.
func (s *Store) renew(ctx context.Context, session id.Session, token int64) error {
	c, err := s.db.Transaction(ctx)
	if err != nil {
		return err
	}
	defer func() { s.db.Rollback(c) }()
	err = c.Run(ctx, db.Require(nil, "update @.leases set until = "+leaseEnd()+" where session = $1 and token = $2 and "+isPresent+
		" returning 1", session.String(), token).Statement)
	if db.IsRefused(err) {
		return lease.ErrLost
	}
	if err == nil {
		err = s.db.Commit(ctx, c)
	}
	return db.Failure(ctx, err)
}

// release ends a lease, unless another one followed it.
func (s *Store) release(session id.Session, token int64) error {
	return s.db.Run(context.Background(), db.Query("update @.leases set held = false where session = $1 and token = $2", session.String(), token))
}

// NotPerformed implements ports.PerformerStatus.
func (s *Store) NotPerformed(ctx context.Context, session id.Session) error {
	by, ok, err := s.performer(ctx, session.String())
	if err == nil && ok {
		err = db.WithPID(ports.BusyPerformer(session, by), by)
	}
	return err
}

// performer returns the holder of the present lease of a session.
func (s *Store) performer(ctx context.Context, session string) (by ports.Holder, ok bool, err error) {
	err = s.db.Run(ctx, db.Query("select host, pid, ref from @.leases where session = $1 and "+isPresent, session).Into(func(r db.Row) error {
		by, ok = s.db.Seen(ports.Holder{Host: r.Text(0), PID: int(r.Int(1)), Ref: r.Text(2)}), true
		return nil
	}))
	return by, ok, err
}

// lostLease is the fault of an append whose lease is not the present one, with the holder of that as far as it is known.
func (s *Store) lostLease(session string) error {
	ctx, cancel := context.WithTimeout(context.Background(), db.AnswerMost)
	defer cancel()
	by, _, _ := s.performer(ctx, session)
	return ports.LostLease(session, by)
}
