package memstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// CachedHead implements ports.HeadCache.
func (s *Store) CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	b := s.disk.heads[headName(log, format)]
	return bytes.Clone(b[:min(int64(len(b)), most)]), ctx.Err()
}

// KeepHead implements ports.HeadCache. It creates neither a store nor a session that has no commit.
func (s *Store) KeepHead(ctx context.Context, log manifest.Log, format int, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	there := !s.disk.id.IsZero()
	if session, err := id.ParseSession(log.Owner); err == nil {
		_, there = s.disk.logs[manifest.SessionEvents(session).Root]
	}
	if there {
		s.disk.heads[headName(log, format)] = bytes.Clone(data)
	}
	return nil
}

func headName(log manifest.Log, format int) string { return fmt.Sprintf("%s-%d", log.Root, format) }
