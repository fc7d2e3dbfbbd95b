package read

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// SideLogs implements ports.SideLogs. owner is a session or store id. Side logs of unknown names
// are included (docs/design.md#side-logs).
//
// A missing owner has no side logs. An owner that is not a session id names the store.
func (r *Reader) SideLogs(ctx context.Context, owner string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, disk.ReadFault(err)
	}
	dir := "."
	if session, err := id.ParseSession(owner); err == nil {
		dir = manifest.SessionEvents(session).Root
	}
	entries, err := r.d.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.ReadFault(err)
	}
	var names []string
	for _, e := range entries {
		if e.Kind != osfs.Directory || strings.HasPrefix(e.Name, layout.TempPrefix) || slices.Contains(layout.NotSideLogs, e.Name) {
			continue
		}
		// A directory that cannot be read is listed as well: it may contain a log.
		if exists, err := r.ContainsLog(path.Join(dir, e.Name)); exists || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// ContainsLog reports a directory that contains a log. Segments without a manifest are a log that
// lost its manifest, since creating a log begins with the manifest; such a log must not look like
// one that never existed.
func (r *Reader) ContainsLog(dir string) (bool, error) {
	if _, exists, err := r.d.Lookup(path.Join(dir, manifest.FileName)); exists || err != nil {
		return exists, err
	}
	entries, err := r.d.List(path.Join(dir, manifest.SegmentDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e osfs.Entry) bool {
		_, _, ok := manifest.ParseSegmentName(e.Name)
		return ok
	}), err
}
