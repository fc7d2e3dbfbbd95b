package commit

import (
	"bytes"
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// commit writes the group with one write and syncs it. This is the third barrier of Append and the
// only step that commits (docs/design.md#commit-protocol).
//
// After the write the size of the file must be the one that the plan computed. Another size, or
// with AllowNetworkFS another file at the name, shows a writer that the lock did not stop.
func (a *appendOp) commit(ctx context.Context) error {
	// One write: with several, bytes of another writer could come in between where locks do not
	// work, and a crash could tear the group in more ways.
	n, err := a.manifest.Write(a.group)
	if err != nil {
		return a.rollBack(err, n == len(a.group))
	}
	// The size is read from the open file, not by name: it must describe the bytes just written.
	info, err := a.manifest.Stat()
	if err != nil {
		return a.rollBack(err, true)
	}
	same := true
	if a.d.AllowNetworkFS {
		// A writer that the lock did not stop may also have replaced the file.
		now, err := a.d.Stat(layout.ManifestPath(a.log))
		same = err == nil && osfs.SameFile(info, now)
	}
	if info.Size != a.next.Bytes || !same {
		return a.resolveCollision(info.Size)
	}
	leave := ports.Enter(ctx, ports.Syncing)
	err = a.manifest.Sync(osfs.Durable)
	if leave(); err != nil {
		return a.rollBack(err, true)
	}
	return nil
}

// rollBack truncates the manifest to its state before the group and syncs it. A sync that failed
// once proves nothing when it later succeeds, so only a shorter file that was synced shows that
// nothing was recorded (docs/design.md#failed-sync). cause is returned when that succeeded, or when
// the group was not written completely: readers ignore a partial group and the next writer cuts it.
// Otherwise the result is STORE_OUTCOME_UNKNOWN.
//
// The callers of the engine treat the two results differently: after cause they may send the call
// again, after STORE_OUTCOME_UNKNOWN they must read the log first.
func (a *appendOp) rollBack(cause error, whole bool) error {
	err := a.manifest.Truncate(a.at.Bytes)
	if err == nil {
		err = a.manifest.Sync(osfs.Durable)
	}
	if err == nil {
		return cause
	}
	// Two records of the failed sync, since either write may fail on a failing disk: the writer
	// note that remains in the lock file, and the mark beside the manifest.
	a.unsynced = true
	MarkSuspect(a.d, a.log)
	if !whole {
		return cause
	}
	return fault.Wrap(errors.Join(cause, err), fault.StoreOutcomeUnknown,
		"writing %s failed, and so did undoing it: read it again to learn whether it was recorded",
		layout.ManifestPath(a.log)).
		With("path", layout.ManifestPath(a.log))
}

// resolveCollision handles a manifest that another process changed despite the lock. The group of
// this append is truncated if it is the end of the file, since it no longer follows the head; the
// bytes of the other writer are not changed. The result is STORE_CONFLICT.
func (a *appendOp) resolveCollision(size int64) error {
	// At or before the head of this append the bytes would be the commit itself, or another
	// writer's; only a group behind another writer's group can be truncated.
	start := size - int64(len(a.group))
	if start > a.at.Bytes {
		last := make([]byte, len(a.group))
		if n, _ := a.manifest.ReadAt(last, start); n == len(last) && bytes.Equal(last, a.group) {
			_ = a.manifest.Truncate(start)
		}
	}
	return a.conflict()
}

// MarkSuspect creates the mark. It ignores errors: it is called when the disk already fails.
func MarkSuspect(d *disk.Disk, log manifest.Log) {
	f, err := d.Open(layout.SuspectPath(log), osfs.New)
	if err == nil {
		_ = f.Close()
		_ = d.SyncDir(log.Root, osfs.Durable)
	}
}

// CopyManifest copies the first valid bytes of a manifest to a new file, whose syncs are
// meaningful, replaces the manifest by it, and removes the suspect mark
// (docs/design.md#failed-sync). An import that did not finish is finished first. The log's lock is
// held.
//
// The order is: write and sync the copy, replace the manifest, sync the directory, remove the mark.
// A crash in between leaves either the old manifest with its mark or the copy.
func CopyManifest(d *disk.Disk, log manifest.Log, valid int64) error {
	if err := finishArrival(d, log.Root); err != nil {
		return err
	}
	name := layout.ManifestPath(log)
	old, err := d.Open(name, osfs.Read)
	if err != nil {
		return err
	}
	// Where the disk lost bytes the page cache still has them, and writing them to a new file makes
	// them durable. That may commit a group whose writer got no answer; its caller knows that
	// the log decides the outcome.
	prefix := make([]byte, valid)
	n, err := old.ReadAt(prefix, 0)
	_ = old.Close()
	if n < len(prefix) {
		return err
	}
	if err := d.WriteFile(name, disk.Bytes(prefix), d.Replace); err != nil {
		return err
	}
	if err := d.SyncDir(log.Root, osfs.Durable); err != nil {
		return err
	}
	// Not synced: a mark that reappears costs one more copy, nothing else.
	return disk.UnlessMissing(d.Remove(layout.SuspectPath(log)))
}
