package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.SideLogs = (*Store)(nil)

// noLogs are the folders of a store and of a session that are no side logs, whatever
// lies in them.
var noLogs = []string{"sessions", "snapshots", "artifacts", "workflows", "keys", quarantineDir, "trash", "cache", "installed", manifest.SegmentDir}

// SideLogs implements ports.SideLogs.
func (s *Store) SideLogs(ctx context.Context, owner string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	dir := "."
	if session, err := id.ParseSession(owner); err == nil {
		dir = manifest.SessionEvents(session).Root
	}
	entries, err := s.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, readFault(err)
	}
	var names []string
	for _, e := range entries {
		if e.Kind != osfs.Directory || strings.HasPrefix(e.Name, tempPrefix) || slices.Contains(noLogs, e.Name) {
			continue
		}
		// A folder of which that cannot be told is named as well: it may hold one.
		if _, there, err := s.stat(path.Join(dir, e.Name, manifest.FileName)); there || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}
