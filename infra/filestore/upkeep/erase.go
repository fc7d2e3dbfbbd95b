package upkeep

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Erase implements ports.Retention. data makes the content of the tombstone from the number of
// bytes. The tombstone is durable before the bytes are removed. Errors: ARTIFACT_NOT_FOUND for an
// artifact that was never stored, STORE_LOCKED, and those of reading and writing.
//
// The cases, by bytes and tombstone:
//   - bytes without a tombstone: the tombstone is placed, then the bytes are removed;
//   - a tombstone: it is written again, and remaining bytes are removed;
//   - bytes and an imported tombstone: the tombstone is replaced by a local one first;
//   - neither: ARTIFACT_NOT_FOUND.
//
// A crash leaves either the bytes or the tombstone, never none of the two.
func (k *Keeper) Erase(ctx context.Context, ref canon.Digest, data func(int64) canon.Value) (out ports.ErasureResult,
	err error) {
	held, err := k.d.LockToWrite(ctx, lock.Exclusive)
	if err != nil {
		return out, err
	}
	defer held.Unlock()
	size, exists, err := read.ErasableSize(k.d, ref)
	if err != nil {
		return out, disk.ReadFault(err)
	}
	out.Bytes = size
	if out.Data, out.Already, err = k.read.Tombstone(ctx, ref); err != nil {
		return out, err
	}
	move := k.d.Replace
	switch {
	case !exists && !out.Already:
		return out, fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref)
	case !out.Already:
		out.Data, move = data(size), k.d.Place
	case exists && read.IsImported(out.Data):
		out.Already = false // the imported tombstone recorded an erasure elsewhere; this one is local
		out.Data = data(size)
	}
	// An existing tombstone is written again: a crash may have come between its sync and the removal of
	// the bytes, or a failed sync may have left it in memory only, so that the sync applies to it
	// (docs/design.md#failed-sync). It is durable before any byte is removed: missing bytes without a
	// tombstone are damage.
	doc := controlfile.Document{Kind: layout.ErasedKind, V: layout.ErasedVersion, Data: out.Data}
	if err = k.d.PutControl(layout.TombstonePath(ref), doc, move); err == nil {
		err = k.removeBytes(ref)
	}
	return out, disk.WriteFault(err)
}

// removeBytes removes the artifact, its installed copy, and temporary files of their directories.
// No process writes temporary objects while the use lock is held exclusively.
func (k *Keeper) removeBytes(ref canon.Digest) error {
	for _, name := range []string{layout.InstalledPath(ref), layout.ArtifactPath(ref)} {
		if err := k.d.Remove(name); disk.UnlessMissing(err) != nil {
			return err
		}
		if err := k.removeTemps(path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// removeTemps removes the temporary files of a directory and syncs it, which makes earlier removals
// durable as well. A missing directory is not an error.
func (k *Keeper) removeTemps(dir string) error {
	entries, err := k.d.List(dir)
	if err != nil {
		return disk.UnlessMissing(err)
	}
	for _, e := range entries {
		if layout.IsTemp(e.Name) {
			if err := k.d.RemoveAll(path.Join(dir, e.Name)); err != nil {
				return err
			}
		}
	}
	return k.d.SyncDir(dir, osfs.Durable)
}
