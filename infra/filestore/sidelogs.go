package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.SideLogs = (*Store)(nil)

// notSideLogs are the directories of a store and of a session that are never side logs, independent
// of their content.
var notSideLogs = []string{"sessions", "snapshots", "artifacts", "workflows", "keys", quarantineDir, "trash", "cache",
	"installed", manifest.SegmentDir}

// SideLogs implements ports.SideLogs. owner is a session or store id. Side logs of unknown names
// are included (docs/design.md#side-logs).
//
// A missing owner has no side logs. An owner that is not a session id names the store.
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
		if e.Kind != osfs.Directory || strings.HasPrefix(e.Name, tempPrefix) || slices.Contains(notSideLogs, e.Name) {
			continue
		}
		// A directory that cannot be read is listed as well: it may contain a log.
		if exists, err := s.containsLog(path.Join(dir, e.Name)); exists || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// containsLog reports a directory that contains a log. Segments without a manifest are a log that
// lost its manifest, since creating a log begins with the manifest; such a log must not look like
// one that never existed.
func (s *Store) containsLog(dir string) (bool, error) {
	if _, exists, err := s.stat(path.Join(dir, manifest.FileName)); exists || err != nil {
		return exists, err
	}
	entries, err := s.fs.List(path.Join(dir, manifest.SegmentDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e osfs.Entry) bool {
		_, _, ok := manifest.ParseSegmentName(e.Name)
		return ok
	}), err
}
