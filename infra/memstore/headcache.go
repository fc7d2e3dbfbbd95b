package memstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/id"
)

// CachedHead implements ports.HeadCache.
func (s *Store) CachedHead(ctx context.Context, session id.Session, format int, most int64) ([]byte, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	b := s.disk.heads[headName(session, format)]
	return bytes.Clone(b[:min(int64(len(b)), most)]), ctx.Err()
}

// KeepHead implements ports.HeadCache. A session that nothing was committed to is
// none that is made here.
func (s *Store) KeepHead(ctx context.Context, session id.Session, format int, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if _, ok := s.disk.logs["sessions/"+session.String()]; ok {
		s.disk.heads[headName(session, format)] = bytes.Clone(data)
	}
	return nil
}

// CachedAudit implements ports.AuditCache.
func (s *Store) CachedAudit(ctx context.Context, format int, most int64) ([]byte, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	b := s.disk.heads[auditName(format)]
	return bytes.Clone(b[:min(int64(len(b)), most)]), ctx.Err()
}

// KeepAudit implements ports.AuditCache.
func (s *Store) KeepAudit(ctx context.Context, format int, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if !s.disk.id.IsZero() {
		s.disk.heads[auditName(format)] = bytes.Clone(data)
	}
	return nil
}

func auditName(format int) string { return fmt.Sprintf("audit-%d", format) }

func headName(session id.Session, format int) string {
	return fmt.Sprintf("%s/head-%d", session, format)
}
