package commit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Confirm implements ports.Logs: it makes the group at head durable for a caller that only read it.
// The writer synced everything else before it wrote the group, so only the manifest is synced here.
// The shared lock guarantees that the writer has either synced its group or recorded that its sync
// failed. It must not be called while this process holds the lock of the same log: it would wait
// for itself. A head that is not on the log's chain is manifest.ErrNotOnChain.
//
// After nil, everything up to head survives a power cut.
func (c *Committer) Confirm(ctx context.Context, log manifest.Log, head manifest.Head) error {
	if head.IsZero() {
		return nil // nothing was read, so nothing can be lost
	}
	defer ports.Enter(ctx, ports.Syncing)()
	held, err := c.d.LockLog(ctx, log, lock.SharedIfExists)
	if err != nil {
		return err
	}
	suspect, err := isSuspect(c.d, log, c.d.Locks.Note(layout.LockName(log)))
	if err == nil && !suspect {
		err = c.syncUpTo(log, head)
	}
	err = errors.Join(err, held.Unlock())
	// The shared lock is released first: copying the manifest requires the exclusive one, and two
	// processes that both kept theirs would wait for each other.
	if err != nil || !suspect {
		return disk.ReadFault(err)
	}
	return c.confirmSuspect(ctx, log, head)
}

// syncUpTo syncs the manifest after checking that head is on its chain. The shared lock is held.
func (c *Committer) syncUpTo(log manifest.Log, head manifest.Head) error {
	f, err := c.d.Open(layout.ManifestPath(log), osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest.ErrNotOnChain
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := onChain(f, head); err != nil {
		return err
	}
	if err := f.Sync(osfs.Durable); err != nil {
		// A later sync would not report what this one lost (docs/design.md#failed-sync).
		MarkSuspect(c.d, log)
		return err
	}
	return nil
}

// onChain checks that the last group of head is stored at its offset with its digest. A mismatch is
// manifest.ErrNotOnChain.
func onChain(f osfs.File, head manifest.Head) error {
	group := make([]byte, head.Bytes-head.GroupAt)
	// A file that is too short is another history, not a disk error.
	n, err := f.ReadAt(group, head.GroupAt)
	if n < len(group) {
		if info, statErr := f.Stat(); statErr == nil && info.Size < head.Bytes {
			return manifest.ErrNotOnChain
		}
		return err
	}
	if canon.Sum(group) != head.Digest {
		return manifest.ErrNotOnChain
	}
	return nil
}

// confirmSuspect replaces the manifest by a synced copy of its valid prefix, as the next writer
// would do: after a failed sync no later sync of the same file proves anything
// (docs/design.md#failed-sync). A damaged log is reported as SESSION_UNHEALTHY and not copied.
func (c *Committer) confirmSuspect(ctx context.Context, log manifest.Log, head manifest.Head) error {
	unlock, err := c.Lock(ctx, log)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	held, _ := c.heldLock(log)
	verdict, err := c.read.Read(ctx, ports.ReadRequest{Log: log, From: head, Locked: true}, ports.Skip)
	if err != nil {
		return err
	}
	if verdict.Damaged() {
		// A copy would discard bytes that the user may want to inspect.
		return ports.Unhealthy(log, verdict)
	}
	if err := CopyManifest(c.d, log, verdict.Head.Bytes); err != nil {
		return disk.WriteFault(err)
	}
	_ = held.SetNote("") // optional: it spares the next writer another copy
	return nil
}
