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

// noLogs are the folders of a store and of a session that are no side logs, whatever
// lies in them.
var noLogs = []string{"sessions", "snapshots", "artifacts", "workflows", "keys", quarantineDir, "trash", "cache",
	"installed", manifest.SegmentDir}

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
		if there, err := s.holdsLog(path.Join(dir, e.Name)); there || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// holdsLog reports a folder that holds a log. One with segments and without a manifest
// lost it, since a log begins with its manifest: it must not look as if there had never
// been a log.
func (s *Store) holdsLog(dir string) (bool, error) {
	if _, there, err := s.stat(path.Join(dir, manifest.FileName)); there || err != nil {
		return there, err
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
