package memstore

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// Performers keeps the performers of sessions apart.
func (s *Store) Performers() ports.Performers { return performers{s.disk} }

// NotPerformed implements ports.PerformerStatus.
func (s *Store) NotPerformed(_ context.Context, session id.Session) error {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.performed[session] {
		return performed(session)
	}
	return nil
}

// performed is the fault for a session that another performer has.
func performed(s id.Session) error {
	return fault.New(fault.RunBusy, "another performer carries out this run").With("sessionId", s.String())
}

// performers implements ports.Performers.
type performers struct{ disk *Disk }

// Hold implements ports.Performers.
func (p performers) Hold(ctx context.Context, s id.Session) (ports.Lease, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if p.disk.performed[s] {
		return ports.Lease{}, performed(s)
	}
	p.disk.performed[s] = true
	return ports.Lease{Release: func() error {
		p.disk.mu.Lock()
		defer p.disk.mu.Unlock()
		delete(p.disk.performed, s)
		return ctx.Err()
	}}, nil
}
