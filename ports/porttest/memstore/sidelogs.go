package memstore

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

var _ ports.SideLogs = (*Store)(nil)

// SideLogs implements ports.SideLogs.
func (s *Store) SideLogs(_ context.Context, owner string) (names []string, err error) {
	prefix := ""
	if _, err := id.ParseSession(owner); err == nil {
		prefix = "sessions/" + owner + "/"
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for root, l := range s.disk.logs {
		if name, ok := strings.CutPrefix(root, prefix); ok && !strings.Contains(name, "/") && len(l.manifest) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
