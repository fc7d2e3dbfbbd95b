package inspect

import (
	"context"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// UnknownEntries lists the directories in sessions/ that contain a log and are not named like a session,
// sorted (docs/design.md#foreign-stores). Inspect reports the same directories, and those without a
// log.
func (n *Inspector) UnknownEntries(ctx context.Context) ([]string, error) {
	entries, err := n.d.EntriesFor(ctx, "sessions")
	var names []string
	for _, e := range entries {
		if _, err := id.ParseSession(e.Name); err == nil || e.Kind != osfs.Directory || layout.IsTemp(e.Name) {
			continue
		}
		// A directory that cannot be read is listed as well: it may contain a log.
		if _, exists, err := n.d.Lookup(path.Join("sessions", e.Name, manifest.FileName)); exists || err != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, err
}
