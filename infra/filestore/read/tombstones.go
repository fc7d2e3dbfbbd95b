package read

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/ports"
)

// ErasableSize returns the size of the bytes at the first of the two names that exists.
func ErasableSize(d *disk.Disk, ref canon.Digest) (bytes int64, exists bool, err error) {
	for _, name := range []string{layout.ArtifactPath(ref), layout.InstalledPath(ref)} {
		info, ok, err := d.Lookup(name)
		if err != nil {
			return 0, false, err
		}
		if ok && !exists {
			bytes, exists = info.Size, true
		}
	}
	return bytes, exists, nil
}

// Tombstone implements ports.Tombstones. It returns the data of the tombstone, and false without
// one; a damaged one is STORE_CORRUPT.
func (r *Reader) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	if err := ctx.Err(); err != nil {
		return canon.Value{}, false, disk.ReadFault(err)
	}
	doc, ok, err := r.d.ReadControl(layout.TombstonePath(ref), layout.ErasedKind)
	return doc.Data, ok, err
}

// IsImported reports a tombstone that came with a bundle: the bytes were erased in another store,
// not by a decision of a user of this one.
func IsImported(data canon.Value) bool {
	imported, _ := data.Get("imported")
	return imported.True()
}

// isSuperseded reports an imported tombstone whose bytes are stored here nevertheless: it no longer
// applies. Otherwise a bundle could make bytes unreadable that a later run stores.
func isSuperseded(d *disk.Disk, ref canon.Digest, data canon.Value) bool {
	if !IsImported(data) {
		return false
	}
	_, exists, err := ErasableSize(d, ref)
	return err == nil && exists
}

// ErasedFault returns ARTIFACT_ERASED for an artifact with a valid tombstone, and nil otherwise.
// The data of the tombstone is in the detail "erased". A damaged tombstone also counts as erased:
// its bytes are not reported as missing.
//
// The message names the user who erased the artifact and the reason, where the tombstone has them.
func ErasedFault(d *disk.Disk, ref canon.Digest) error {
	name := layout.TombstonePath(ref)
	if _, exists, err := d.Lookup(name); err != nil || !exists {
		return disk.ReadFault(err)
	}
	doc, _, err := d.ReadControl(name, layout.ErasedKind)
	if err != nil {
		f := ports.Erased(ref, canon.Value{})
		f.Message += "; its tombstone, which records who erased it and why, cannot be read"
		return f
	}
	if isSuperseded(d, ref, doc.Data) {
		return nil
	}
	return ports.Erased(ref, doc.Data)
}

// Tombstones returns the artifacts that have a tombstone; the value is false for an imported one.
// Bytes of the true ones are not needed at either name.
func Tombstones(d *disk.Disk, kind manifest.ObjectKind) (map[canon.Digest]bool, error) {
	if !kind.IsErasable() {
		return nil, nil
	}
	entries, err := d.Entries(manifest.ObjectDir(manifest.Artifact))
	out := map[canon.Digest]bool{}
	for _, e := range entries {
		if ref, ok := layout.ParseTombstoneName(e.Name); ok {
			doc, _, err := d.ReadControl(layout.TombstonePath(ref), layout.ErasedKind)
			out[ref] = err != nil || !IsImported(doc.Data)
		}
	}
	return out, err
}
