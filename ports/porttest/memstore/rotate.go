package memstore

import (
	"context"

	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Rotate implements ports.Keyring. Each key is derived from the one before: tests need the same
// ones in every run.
func (s *Store) Rotate(ctx context.Context, r ports.Rotation) (ports.Rotated, error) {
	if err := ctx.Err(); err != nil {
		return ports.Rotated{}, fault.Wrap(err, fault.Interrupted, "replacing the keys was interrupted")
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	have := s.disk.keys
	if s.disk.id.IsZero() {
		return ports.Rotated{}, fault.New(fault.TargetNotFound, "there is no store here, and so no key to replace")
	}
	if (have != nil) != (r.From != nil) || have != nil && have.Current != *r.From {
		return ports.Rotated{}, fault.New(fault.StoreConflict, "the keys were replaced meanwhile: nothing was changed")
	}
	next := token.Keys{Current: token.Key(derive.Seal("waybill memstore key", s.disk.seed[:], nil))}
	if have != nil {
		old := have.Current
		next.Current, next.Previous = token.Key(derive.Seal("waybill memstore key", old[:], nil)), &old
	}
	s.disk.keys = &next
	return ports.Rotated{Keys: next}, nil
}
