package filestore

import (
	"path"

	"github.com/waybill/waybill/durable/fault"
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
	var syncs []func() error
	for _, dir := range a.relied.dirs {
		syncs = append(syncs, func() error {
			err := a.s.fs.SyncDir(dir, osfs.Order)
			a.s.doubt(a.relied.names[dir], err != nil)
			return err
		})
	}
	err := a.s.fs.Together(syncs...)
	if err != nil {
		a.unsettle()
	}
	return err
}

// unsettle makes entries of which a sync failed new changes to their folders, as
// far as the failing disk lets it: only what changes again is written again, and
// the next process would take a sync that then succeeds for the whole truth (R7).
func (a *appending) unsettle() {
	for _, in := range a.incoming {
		if !in.segment && a.s.moveAnew(in.path(), in.bytes) {
			a.s.doubt([]string{in.path()}, false)
		}
	}
	if a.at.IsZero() {
		a.dismantle()
	}
}

// moveAnew puts the same bytes at the same name once more. The old file is not
// removed before: another session may be committing to it at this moment.
func (s *Store) moveAnew(name string, b []byte) bool {
	temp, err := s.tempName(path.Dir(name))
	if err == nil {
		err = s.writeTemp(temp, b)
	}
	if err == nil {
		err = s.fs.Replace(temp, name)
	}
	if err != nil {
		_ = s.fs.Remove(temp)
	}
	return err == nil
}

// dismantle removes a log that nothing was committed to, since a folder cannot be
// moved in anew as a file can. The lock goes with it: whoever waits for it starts
// over, and what is left of this gate may not append any more.
func (a *appending) dismantle() {
	a.s.letGo(a.log)
	for _, in := range a.incoming {
		if in.segment {
			_ = a.s.fs.Remove(in.path())
		}
	}
	gone := []string{a.events(), a.file(), lockName(a.log), a.log.Root}
	for _, name := range gone {
		if a.s.fs.Remove(name) == nil {
			a.s.doubt([]string{name}, false)
		}
	}
}

// relyOnTheWay refuses a new log on the way to which a sync failed: a folder
// cannot be moved in anew as a file can.
func (a *appending) relyOnTheWay() error {
	way := []string{a.file(), a.events()}
	for dir := a.log.Root; dir != "."; dir = path.Dir(dir) {
		way = append(way, dir)
	}
	for _, name := range way {
		if a.s.doubts(name) {
			return fault.New(fault.StoreIO, "writing %s failed before, and what that lost cannot be told", path.Dir(name)).
				Suggest("Start the command again, and look after the disk.").With("path", path.Dir(name))
		}
	}
	a.relied.add(way...)
	return nil
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
