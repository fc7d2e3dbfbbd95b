package read

import (
	"context"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Control implements ports.Controls. A name that is not layout.IsControl is INTERNAL.
func (r *Reader) Control(ctx context.Context, f ports.ControlFile) (ports.Control, error) {
	// Names are constants of the program; any other name could leave the store's directory and is a
	// bug.
	if !layout.IsControl(f.Name) {
		return ports.Control{}, fault.New(fault.Internal, "%q is not a control file", f.Name)
	}
	if err := ctx.Err(); err != nil {
		return ports.Control{}, disk.ReadFault(err)
	}
	if err := CheckPrivate(r.d, f.Name); err != nil {
		return ports.Control{}, err
	}
	doc, _, err := r.d.ReadControl(f.Name, f.Kind)
	return ports.Control{V: doc.V, Data: doc.Data}, err
}

// CheckPrivate returns STORE_CORRUPT, with ports.ErrOpenToOthers, for layout.HTTPKeysFile if other users can open it. Other
// files, and what is no regular file, are left to their readers. On systems without such permissions Perm has no bits for other users.
func CheckPrivate(d *disk.Disk, name string) error {
	if name != layout.HTTPKeysFile {
		return nil
	}
	info, ok, err := d.Lookup(name)
	if err != nil || !ok || info.Kind != osfs.Regular || info.Perm&othersMask == 0 {
		return disk.ReadFault(err)
	}
	return fault.Wrap(ports.ErrOpenToOthers, fault.StoreCorrupt, "%s can be opened by other users (mode %#o)", name,
		info.Perm).Suggest("Make it private with 'chmod 600'.")
}

// SessionControl implements ports.SessionControls. A missing file is the zero Control.
func (r *Reader) SessionControl(ctx context.Context, session id.Session, f ports.ControlFile) (ports.Control, error) {
	name, err := layout.SessionControlName(session, f)
	if err == nil {
		err = disk.ReadFault(ctx.Err())
	}
	if err != nil {
		return ports.Control{}, err
	}
	doc, _, err := r.d.ReadControl(name, f.Kind)
	return ports.Control{V: doc.V, Data: doc.Data}, err
}

// TrashEntries implements ports.Trash. The result is sorted by name.
func (r *Reader) TrashEntries(ctx context.Context) ([]ports.TrashEntry, error) {
	entries, err := r.d.EntriesFor(ctx, layout.TrashDir)
	var out []ports.TrashEntry
	for _, e := range entries {
		session, atMs, ok := layout.ParseTrashName(e.Name)
		if !ok || e.Kind != osfs.Directory {
			continue
		}
		t := ports.TrashEntry{Name: e.Name, Root: path.Join(layout.TrashDir, e.Name), Session: session, AtMs: atMs}
		// The record of who deleted the session is optional: the session is complete without it.
		doc, _, _ := r.d.ReadControl(path.Join(t.Root, ports.TrashFile.Name), ports.TrashFile.Kind)
		t.Control = ports.Control{V: doc.V, Data: doc.Data}
		out = append(out, t)
	}
	sorting.By(out, func(a, b ports.TrashEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}
