package memstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// CachedHead implements ports.HeadCache. It returns the first most bytes of the entry, none where
// no entry exists.
func (s *Store) CachedHead(ctx context.Context, log manifest.Log, format int, limit int64) ([]byte, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	b := s.disk.heads[headName(log, format)]
	return bytes.Clone(b[:min(int64(len(b)), limit)]), nil
}

// StoreHead implements ports.HeadCache. It creates neither a store nor a session that has no commit:
// an entry for a log that does not exist is dropped without an error. A context that has ended
// keeps the old entry.
func (s *Store) StoreHead(ctx context.Context, log manifest.Log, format int, data []byte) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	// For a log of the store the store must exist, for a log of a session the session.
	exists := !s.disk.id.IsZero()
	if session, err := id.ParseSession(log.Owner); err == nil {
		_, exists = s.disk.logs[manifest.SessionEvents(session).Root]
	}
	if exists {
		s.disk.heads[headName(log, format)] = bytes.Clone(data)
	}
	return nil
}

// headName returns the key of a log's entry: each format has its own.
func headName(log manifest.Log, format int) string { return fmt.Sprintf("%s-%d", log.Root, format) }

// Failures implements ports.Availability: nothing is a file.
func (s *Store) Failures() ports.Failures {
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	return ports.Failures{Connections: s.process.unreached}
}
