package memstore

import (
	"context"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/ports"
)

// granted is the latest lease of a session. It stays when it ends, for its token.
type granted struct {
	token  int64
	holder ports.Holder
	until  time.Duration // its end, by the clock of the store
	held   bool          // not released
}

// UseClock sets the clock of the store, which is lease.System otherwise. It is called before the first Hold.
func (d *Disk) UseClock(c lease.Clock) { d.clock = c }

// present returns the lease of a session that is neither released nor ended, nil without one; the caller holds mu.
func (d *Disk) present(session string) *granted {
	g := d.leases[session]
	if g == nil || !g.held || d.clock.Now() >= g.until {
		return nil
	}
	return g
}

// checkLease refuses a plan whose lease is not the present one of its session; the caller holds mu, under which the plan
// is committed.
func (d *Disk) checkLease(p manifest.Plan) error {
	if p.Lease == 0 {
		return nil
	}
	return d.refuseLost(p.Log.Owner, p.Lease)
}

// refuseLost is ports.LostLease for a token that is not that of the present lease; the caller holds mu.
func (d *Disk) refuseLost(session string, token int64) error {
	switch g := d.present(session); {
	case g == nil:
		return ports.LostLease(session, ports.Holder{})
	case g.token != token:
		return ports.LostLease(session, g.holder)
	}
	return nil
}

// confirm is ports.Lease.Confirm.
func (d *Disk) confirm(s id.Session, token int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refuseLost(s.String(), token)
}

// Performers keeps the performers of sessions apart.
func (s *Store) Performers() ports.Performers { return performers{s} }

// performers implements ports.Performers with leases.
type performers struct{ s *Store }

// Hold implements ports.Performers.
func (p performers) Hold(ctx context.Context, s id.Session) (ports.Lease, error) {
	asked := timers{p.s.process}.Now()
	if err := p.s.reach(ctx); err != nil {
		return ports.Lease{}, err
	}
	token, err := p.s.disk.grant(s, p.s.who)
	if err != nil {
		return ports.Lease{}, err
	}
	kept := lease.Keep(timers{p.s.process}, lease.Default(), asked, func(ctx context.Context) error {
		if err := p.s.reach(ctx); err != nil {
			return err
		}
		return p.s.disk.renew(s, token)
	})
	confirm := func(ctx context.Context) error {
		if err := p.s.reach(ctx); err != nil {
			return err
		}
		return p.s.disk.confirm(s, token)
	}
	return ports.Lease{Token: token, Lost: kept.Lost(), Confirm: confirm, Release: func() error {
		kept.Stop()
		if err := p.s.reach(context.Background()); err != nil {
			return err
		}
		p.s.disk.release(s, token)
		return nil
	}}, nil
}

// NotPerformed implements ports.PerformerStatus.
func (s *Store) NotPerformed(ctx context.Context, session id.Session) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if g := s.disk.present(session.String()); g != nil {
		return ports.BusyPerformer(session, g.holder)
	}
	return nil
}

// grant gives a session a new lease, unless one is present.
func (d *Disk) grant(s id.Session, who ports.Holder) (token int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.present(s.String()); g != nil {
		return 0, ports.BusyPerformer(s, g.holder)
	}
	g := d.leases[s.String()]
	if g == nil {
		g = &granted{}
		d.leases[s.String()] = g
	}
	*g = granted{token: g.token + 1, holder: who, until: d.clock.Now() + lease.Default().Length, held: true}
	return g.token, nil
}

// renew extends a lease that is present; lease.ErrLost for any other.
func (d *Disk) renew(s id.Session, token int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.present(s.String())
	if g == nil || g.token != token {
		return lease.ErrLost
	}
	g.until = d.clock.Now() + lease.Default().Length
	return nil
}

// release ends a lease, unless another one followed it.
func (d *Disk) release(s id.Session, token int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.leases[s.String()]; g.token == token {
		g.held = false
	}
}
