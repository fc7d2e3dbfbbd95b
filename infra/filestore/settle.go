package filestore

import (
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// settle syncs the folders whose entries the commit relies on: the second
// barrier. The first commit of a log includes the way from the store to it.
func (a *appending) settle() error {
	if a.at.IsZero() {
		if err := a.relyOnTheWay(); err != nil {
			return err
		}
	}
	// Only folders whose entries this commit relies on: a sync of any other would
	// wait for somebody else's writes.
	err := a.s.fs.Together(a.s.syncsFor(&a.relied)...)
	if err != nil {
		a.unsettle()
	}
	return err
}

// syncsFor are the syncs that make names durable, and remember those of which one
// failed.
func (s *Store) syncsFor(e *entries) []func() error {
	var syncs []func() error
	for _, dir := range e.dirs {
		syncs = append(syncs, func() error {
			err := s.fs.SyncDir(dir, osfs.Order)
			s.doubt(e.names[dir], err != nil)
			return err
		})
	}
	return syncs
}

// relyOnTheWay adds what leads to a log and to its objects.
func (a *appending) relyOnTheWay() error {
	ends := []string{a.log.Root}
	for _, in := range a.incoming {
		ends = append(ends, in.dir)
	}
	way, err := a.s.wayTo([]string{a.file(), a.events()}, ends)
	a.relied.add(way...)
	return err
}

// wayTo adds folders and all above them to a way. It refuses where a sync on that way
// failed: a folder cannot be moved in anew as a file can.
func (s *Store) wayTo(way, ends []string) ([]string, error) {
	for _, dir := range ends {
		for ; dir != "."; dir = path.Dir(dir) {
			way = append(way, dir)
		}
	}
	for _, name := range way {
		if s.doubts(name) {
			return nil, fault.New(fault.StoreIO, "writing %s failed before, and what that lost cannot be told",
				path.Dir(name)).
				Suggest("Start the command again, and look after the disk.").With("path", path.Dir(name))
		}
	}
	return way, nil
}

// unsettle leaves word that entries may be in memory only, although a later sync
// would not say so (R7). Objects are moved in anew, as far as the failing disk
// lets it: other logs may rely on them, and what changes again is written again.
// For the rest the announcement in the lock file stays; see anew.
func (a *appending) unsettle() {
	a.doubtful = true
	for _, in := range a.incoming {
		if !in.segment && a.s.moveAnew(in.path(), in.bytes) {
			a.s.doubt([]string{in.path()}, false)
		}
	}
}

// moveAnew puts the same bytes at the same name once more. The old file is not
// removed before: another session may be committing to it at this moment.
func (s *Store) moveAnew(name string, b []byte) bool {
	return s.rewrite(name, func(f osfs.File) error { _, err := f.Write(b); return err })
}

// rewrite is moveAnew for bytes that nobody holds in memory.
func (s *Store) rewrite(name string, fill func(osfs.File) error) bool {
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

// anew removes a log that was announced and never committed to, with its lock
// file, so that its folder is a new entry of its parent: the old one may be of
// those that a failed sync lost. Whoever waits for the lock starts over, and so
// must the caller when removed is true: what it holds is no lock any more.
func (s *Store) anew(log manifest.Log, held *lock.Held) (removed bool) {
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
	for _, e := range inside { // other things keep the folder where it is
		if !slices.Contains(own, path.Join(log.Root, e.Name)) {
			return false
		}
	}
	names, err := s.segmentNames(log)()
	if err != nil {
		return false
	}
	// Segments beyond the first prove that the log was committed to and lost its manifest:
	// a person may want them back.
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
			s.doubt([]string{name}, false)
			removed = removed || name == lockName(log)
		}
	}
	return removed
}

func (s *Store) doubts(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubted[name]
}

// doubt remembers entries of which a sync failed, for as long as the process
// lives: a later sync that succeeds proves nothing about them (R7).
func (s *Store) doubt(names []string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if failed {
			s.doubted[name] = true
		} else {
			delete(s.doubted, name) // it was moved in anew, or never was in doubt
		}
	}
}
