package memstore

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// WithoutChanges calls do while no writer has the lock of a log, as that of ports.Inspector.
func (s *Store) WithoutChanges(ctx context.Context, log manifest.Log, do func() error) error {
	unlock, err := s.Lock(ctx, log)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	return do()
}
