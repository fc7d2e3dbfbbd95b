package commit

import (
	"context"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
)

// syncDirs syncs the directories whose entries the commit relies on: the second barrier of Append.
// The first commit of a log includes the path from the store to the log.
func (a *appendOp) syncDirs(ctx context.Context) error {
	if a.at.IsZero() {
		if err := a.relyOnPath(); err != nil {
			return err
		}
	}
	// Only directories whose entries this commit relies on: a sync of any other would wait for the
	// writes of other processes.
	leave := ports.Enter(ctx, ports.Syncing)
	err := a.d.SyncAll(a.d.SyncsFor(a.relied)...)
	if leave(); err != nil {
		a.markUnsynced()
	}
	return err
}

// relyOnPath adds the manifest, the segment directory and every directory above the log and its
// objects to the names that the commit relies on.
func (a *appendOp) relyOnPath() error {
	ends := []string{a.log.Root}
	for _, in := range a.incoming {
		ends = append(ends, path.Dir(in.Name))
	}
	names, err := a.d.PathEntries([]string{layout.ManifestPath(a.log), layout.SegmentsDir(a.log)}, ends)
	a.relied.Add(names...)
	return err
}

// markUnsynced records that entries may exist in memory only after a failed directory sync, which a
// later sync would not report (docs/design.md#failed-sync). Objects are rewritten as far as the
// failing disk permits, since other logs may rely on them, and a changed entry is written by the
// next sync. For the log's own entries the note in the lock file remains; see removeUncommitted.
//
// Segments are not rewritten: no event refers to a segment before its group is committed.
func (a *appendOp) markUnsynced() {
	a.unsynced = true
	for _, in := range a.incoming {
		if !in.segment {
			a.d.Rewrite(in.Name, disk.Bytes(in.bytes))
		}
	}
}

// removeUncommitted removes a log whose writer set the open note and never committed, together with
// its lock file, so that the directory becomes a new entry of its parent: the old entry may be one
// that a failed sync lost. When it returns true, held is no longer the lock of the log: the caller
// and every process that waits for the lock must acquire it again.
//
// It does nothing in each of these cases:
//   - the note is not the open note of this boot: the entry was durable before, or no boot is known;
//   - the manifest has bytes: something was committed;
//   - the directory has other files, or segments beyond the first event.
func (c *Committer) removeUncommitted(log manifest.Log, held *lock.Held) (removed bool) {
	if held.Note() == "" || held.Note() != OpenNote(c.d) {
		return false
	}
	file := layout.ManifestPath(log)
	if info, ok, err := c.d.Lookup(file); err != nil || ok && info.Size > 0 {
		return false
	}
	events := layout.SegmentsDir(log)
	own := []string{events, file, layout.SuspectPath(log), layout.LockName(log), log.Root}
	inside, err := c.d.List(log.Root)
	if err != nil {
		return false
	}
	for _, e := range inside { // any other file keeps the directory
		if !slices.Contains(own, path.Join(log.Root, e.Name)) {
			return false
		}
	}
	names, err := read.SegmentNames(c.d, log)
	if err != nil {
		return false
	}
	// Segments beyond the first prove that the log was committed to and lost its manifest: the user
	// may want to recover them.
	if slices.ContainsFunc(names, func(name string) bool {
		first, _, ok := manifest.ParseSegmentName(name)
		return ok && first > 0
	}) {
		return false
	}
	for _, name := range names {
		_ = c.d.Remove(path.Join(events, name))
	}
	for _, name := range own {
		if c.d.Remove(name) == nil {
			c.d.SetSyncFailed([]string{name}, false)
			removed = removed || name == layout.LockName(log)
		}
	}
	return removed
}
