package read

import (
	"context"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// SideLogs implements ports.SideLogs. owner is a session or store id. Side logs of unknown names
// are included (docs/design.md#side-logs), and so is a link or file in place of a known one: reading
// it fails, and a log that cannot be read must not look like one that never existed.
//
// A missing owner has no side logs. An owner that is not a session id names the store.
func (r *Reader) SideLogs(ctx context.Context, owner string) ([]string, error) {
	dir := "."
	if session, err := id.ParseSession(owner); err == nil {
		dir = manifest.SessionEvents(session).Root
	}
	entries, err := r.d.EntriesFor(ctx, dir)
	var names []string
	for _, e := range entries {
		if e.Kind != osfs.Directory && slices.Contains(layout.KnownSideLogs, e.Name) {
			names = append(names, e.Name)
		}
		if e.Kind != osfs.Directory || layout.IsTemp(e.Name) || slices.Contains(layout.NotSideLogs, e.Name) {
			continue
		}
		// A directory that cannot be read is listed as well: it may contain a log.
		if exists, err := ContainsLog(r.d, path.Join(dir, e.Name)); exists || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, err
}

// ContainsLog reports a directory that contains a log. Segments without a manifest are a log that
// lost its manifest, since creating a log begins with the manifest; such a log must not look like
// one that never existed.
func ContainsLog(d *disk.Disk, dir string) (bool, error) {
	if _, exists, err := d.Lookup(path.Join(dir, manifest.FileName)); exists || err != nil {
		return exists, err
	}
	entries, err := d.Entries(path.Join(dir, manifest.SegmentDir))
	return slices.ContainsFunc(entries, func(e osfs.Entry) bool {
		_, _, ok := manifest.ParseSegmentName(e.Name)
		return ok
	}), err
}
