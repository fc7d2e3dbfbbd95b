package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// RemoveLog removes a side log of the store; see removeLog. A log of a session is INTERNAL.
func (w *sweeper) RemoveLog(ctx context.Context, log manifest.Log, head manifest.Head) (gone bool, err error) {
	if err := w.ready(ctx); err != nil {
		return false, err
	}
	if _, err := id.ParseStore(log.Owner); err != nil || log.Root != log.Table.Name ||
		slices.Contains(layout.NotSideLogs, log.Root) {
		return false, fault.New(fault.Internal, "%s is no side log of the store", log.Root)
	}
	gone, err = w.k.removeLog(ctx, log, head)
	return gone, disk.WriteFault(err)
}

// removeLog removes the directory of a side log of the store, unless a process holds its lock, it has another head, or it has
// a file that no log has. The use lock is held, so that no commit is under way.
//
// gone is true when the directory no longer exists, also when another process removed it.
func (k *Keeper) removeLog(ctx context.Context, log manifest.Log, head manifest.Head) (gone bool, err error) {
	held, busy, err := k.tryLock(ctx, layout.LockName(log))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if busy || err != nil {
		return false, err
	}
	defer held.Unlock()
	if known, err := k.hasOnlyLogFiles(log); err != nil || !known {
		return false, err
	}
	v, err := k.read.Read(ctx, ports.ReadRequest{Log: log, From: head, Locked: true}, ports.Skip)
	if errors.Is(err, manifest.ErrNotOnChain) {
		return false, nil
	}
	if err != nil || v.Head != head || v.Health != manifest.Healthy {
		return false, err
	}
	if layout.MoveNeedsClosedFiles {
		_ = held.Unlock()
	}
	return true, k.removeTree(log.Root)
}

// hasOnlyLogFiles reports that the directory of a side log has no other files than those of a log.
func (k *Keeper) hasOnlyLogFiles(log manifest.Log) (bool, error) {
	entries, err := k.d.List(log.Root)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		isDirectory := e.Name == manifest.SegmentDir || e.Name == "cache"
		if !layout.IsTemp(e.Name) && !slices.Contains(layout.SideLogNames, e.Name) ||
			isDirectory != (e.Kind == osfs.Directory) {
			return false, nil
		}
	}
	segments, err := k.d.List(path.Join(log.Root, manifest.SegmentDir))
	if err != nil {
		return false, disk.UnlessMissing(err)
	}
	return !slices.ContainsFunc(segments, func(e osfs.Entry) bool {
		_, _, ok := manifest.ParseSegmentName(e.Name)
		return !layout.IsTemp(e.Name) && (!ok || e.Kind != osfs.Regular)
	}), nil
}
