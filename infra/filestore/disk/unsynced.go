package disk

import (
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/osfs"
)

// Entries are the names that a commit relies on, grouped by the directory whose sync makes them
// durable.
type Entries struct {
	dirs  []string
	Names map[string][]string
}

// SyncsFor returns one sync function per directory of e. Each records for its names whether the
// sync failed.
//
// The functions may run in parallel.
func (d *Disk) SyncsFor(e *Entries) []func() error {
	var syncs []func() error
	for _, dir := range e.dirs {
		syncs = append(syncs, func() error {
			err := d.SyncDir(dir, osfs.Order)
			d.SetSyncFailed(e.Names[dir], err != nil)
			return err
		})
	}
	return syncs
}

// PathEntries appends every directory of ends, and all above it, to names. It returns STORE_IO when
// a sync on that path failed before in this process: unlike a file, a directory cannot be written
// again to make a later sync meaningful (docs/design.md#failed-sync).
func (d *Disk) PathEntries(names, ends []string) ([]string, error) {
	for _, dir := range ends {
		for ; dir != "."; dir = path.Dir(dir) {
			names = append(names, dir)
		}
	}
	for _, name := range names {
		if d.MayBeUnsynced(name) {
			return nil, fault.New(fault.StoreIO, "writing %s failed before, and it is unknown what was lost",
				path.Dir(name)).
				Suggest("Run the command again, and check the disk.").With("path", path.Dir(name))
		}
	}
	return names, nil
}

// MayBeUnsynced reports a name whose directory failed to sync in this process.
func (d *Disk) MayBeUnsynced(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncFailed[name]
}

// SetSyncFailed records the outcome of a directory sync for names, for the lifetime of the process:
// a later sync that succeeds proves nothing about entries that an earlier one lost
// (docs/design.md#failed-sync).
func (d *Disk) SetSyncFailed(names []string, failed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		if failed {
			d.syncFailed[name] = true
		} else {
			delete(d.syncFailed, name) // it was rewritten, or no sync failed
		}
	}
}

// Add records names under their directories, in the order of the first name of each.
func (e *Entries) Add(names ...string) {
	for _, name := range names {
		dir := path.Dir(name)
		if !slices.Contains(e.dirs, dir) {
			e.dirs = append(e.dirs, dir)
		}
		if e.Names == nil {
			e.Names = map[string][]string{}
		}
		e.Names[dir] = append(e.Names[dir], name)
	}
}
