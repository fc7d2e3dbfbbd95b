package memstore

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// Every log whose root is below its owner's is a side log; names are not checked against known
// ones.
var _ ports.SideLogs = (*Store)(nil)

// SideLogs implements ports.SideLogs. The owner is a session id, or a store id for the logs of the
// store. Logs that were locked and never written to are not among them.
func (s *Store) SideLogs(ctx context.Context, owner string) (names []string, err error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	// Logs of the store have a root of one element, side logs of a session one element more than
	// the session's own log.
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
