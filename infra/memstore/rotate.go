package memstore

import (
	"context"

	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Rotate implements ports.Keyring. Each key is derived from the one before it, so that the keys are
// the same in every run. A store that does not exist is TARGET_NOT_FOUND; a r.From that is not the
// current key is STORE_CONFLICT. A keyring that was damaged is quarantined.
func (s *Store) Rotate(ctx context.Context, r ports.Rotation) (ports.RotationResult, error) {
	if err := s.reach(ctx); err != nil {
		return ports.RotationResult{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	// Compared under the lock: of several rotations from the same key, one succeeds.
	have := s.disk.keys
	if s.disk.id.IsZero() {
		return ports.RotationResult{},
			fault.New(fault.TargetNotFound, "the store does not exist; no key can be replaced")
	}
	var out ports.RotationResult
	if s.disk.broken[keyringName] {
		have = nil
	}
	if (have != nil) != (r.From != nil) || have != nil && have.Current != *r.From {
		return ports.RotationResult{}, fault.New(fault.StoreConflict,
			"the keys were replaced by another process; nothing was changed")
	}
	if s.disk.broken[keyringName] {
		out.QuarantinePlace = s.disk.putInQuarantine(s.disk.id.String(), r.AtMs, keyringName, nil)
		delete(s.disk.broken, keyringName)
	}
	// A first keyring has no previous key. Its current key differs from the one that Keys would
	// have made, so that a test notices where the two are confused.
	next := token.Keys{Current: token.Key(derive.Seal("waybill memstore key", s.disk.seed[:], nil))}
	if have != nil {
		old := have.Current
		next.Current, next.Previous = token.Key(derive.Seal("waybill memstore key", old[:], nil)), &old
	}
	s.disk.keys = &next
	out.Keys = next
	return out, nil
}
