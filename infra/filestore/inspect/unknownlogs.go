package inspect

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

// UnknownEntries lists the directories in sessions/ that contain a log and are not named like a session,
// sorted (docs/design.md#foreign-stores). Inspect reports the same directories, and those without a
// log.
func (n *Inspector) UnknownEntries(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, disk.ReadFault(err)
	}
	entries, err := n.d.List("sessions")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.ReadFault(err)
	}
	var names []string
	for _, e := range entries {
		if e.Kind != osfs.Directory || strings.HasPrefix(e.Name, layout.TempPrefix) {
			continue
		}
		if _, err := id.ParseSession(e.Name); err == nil {
			continue
		}
		// A directory that cannot be read is listed as well: it may contain a log.
		if _, exists, err := n.d.Lookup(path.Join("sessions", e.Name, manifest.FileName)); exists || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}
