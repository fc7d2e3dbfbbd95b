package filestore

import (
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// syncDirs syncs the directories whose entries the commit relies on: the second barrier of Append.
// The first commit of a log includes the path from the store to the log.
func (a *appendOp) syncDirs() error {
	if a.at.IsZero() {
		if err := a.relyOnPath(); err != nil {
			return err
		}
	}
	// Only directories whose entries this commit relies on: a sync of any other would wait for the
	// writes of other processes.
	err := a.s.fs.SyncAll(a.s.syncsFor(&a.relied)...)
	if err != nil {
		a.markUnsynced()
	}
	return err
}

// syncsFor returns one sync function per directory of e. Each records for its names whether the
// sync failed.
//
// The functions may run in parallel.
func (s *Store) syncsFor(e *entries) []func() error {
	var syncs []func() error
	for _, dir := range e.dirs {
		syncs = append(syncs, func() error {
			err := s.fs.SyncDir(dir, osfs.Order)
			s.setSyncFailed(e.names[dir], err != nil)
			return err
		})
	}
	return syncs
}

// relyOnPath adds the manifest, the segment directory and every directory above the log and its
// objects to the names that the commit relies on.
func (a *appendOp) relyOnPath() error {
	ends := []string{a.log.Root}
	for _, in := range a.incoming {
		ends = append(ends, in.dir)
	}
	names, err := a.s.pathEntries([]string{a.file(), a.events()}, ends)
	a.relied.add(names...)
	return err
}

// pathEntries appends every directory of ends, and all above it, to names. It returns STORE_IO when
// a sync on that path failed before in this process: unlike a file, a directory cannot be written
// again to make a later sync meaningful (docs/design.md#failed-sync).
func (s *Store) pathEntries(names, ends []string) ([]string, error) {
	for _, dir := range ends {
		for ; dir != "."; dir = path.Dir(dir) {
			names = append(names, dir)
		}
	}
	for _, name := range names {
		if s.mayBeUnsynced(name) {
			return nil, fault.New(fault.StoreIO, "writing %s failed before, and it is unknown what was lost",
				path.Dir(name)).
				Suggest("Run the command again, and check the disk.").With("path", path.Dir(name))
		}
	}
	return names, nil
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
		if !in.segment && a.s.rewriteBytes(in.path(), in.bytes) {
			a.s.setSyncFailed([]string{in.path()}, false)
		}
	}
}

// rewriteBytes replaces the file at name by a new file with the bytes b, and reports success. The
// old file is not removed first: another session may be committing a reference to it.
func (s *Store) rewriteBytes(name string, b []byte) bool {
	return s.rewriteFile(name, func(f osfs.File) error { _, err := f.Write(b); return err })
}

// rewriteFile is rewriteBytes for content that fill writes.
func (s *Store) rewriteFile(name string, fill func(osfs.File) error) bool {
	temp, err := s.tempName(path.Dir(name))
	if err == nil {
		err = s.fillTemp(temp, fill)
	}
	if err == nil {
		err = s.fs.Replace(temp, name)
	}
	if err != nil {
		_ = s.fs.Remove(temp)
	}
	return err == nil
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
func (s *Store) removeUncommitted(log manifest.Log, held *lock.Held) (removed bool) {
	if held.Note() == "" || held.Note() != s.openNote() {
		return false
	}
	file := path.Join(log.Root, manifest.FileName)
	if info, ok, err := s.stat(file); err != nil || ok && info.Size > 0 {
		return false
	}
	events := path.Join(log.Root, manifest.SegmentDir)
	own := []string{events, file, path.Join(log.Root, suspectFile), lockName(log), log.Root}
	inside, err := s.fs.List(log.Root)
	if err != nil {
		return false
	}
	for _, e := range inside { // any other file keeps the directory
		if !slices.Contains(own, path.Join(log.Root, e.Name)) {
			return false
		}
	}
	names, err := s.segmentNames(log)()
	if err != nil {
		return false
	}
	// Segments beyond the first prove that the log was committed to and lost its manifest: the user
	// may want to recover them.
	if slices.ContainsFunc(names, func(name string) bool {
		first, _, ok := manifest.ParseSegmentName(name)
		return ok &&
			first > 0
	}) {
		return false
	}
	for _, name := range names {
		_ = s.fs.Remove(path.Join(events, name))
	}
	for _, name := range own {
		if s.fs.Remove(name) == nil {
			s.setSyncFailed([]string{name}, false)
			removed = removed || name == lockName(log)
		}
	}
	return removed
}

// mayBeUnsynced reports a name whose directory failed to sync in this process.
func (s *Store) mayBeUnsynced(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.syncFailed[name]
}

// setSyncFailed records the outcome of a directory sync for names, for the lifetime of the process:
// a later sync that succeeds proves nothing about entries that an earlier one lost
// (docs/design.md#failed-sync).
func (s *Store) setSyncFailed(names []string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if failed {
			s.syncFailed[name] = true
		} else {
			delete(s.syncFailed, name) // it was rewritten, or no sync failed
		}
	}
}
