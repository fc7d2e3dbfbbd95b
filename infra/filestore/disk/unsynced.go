package disk

import (
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/osfs"
)

// Relied are the names that a commit relies on. The sync of the directory of each makes it durable.
type Relied []string

// Add adds names.
func (r *Relied) Add(names ...string) { *r = append(*r, names...) }

// Dirs returns the directories of names, in the order of the first name of each.
func Dirs(names []string) (dirs []string) {
	for _, name := range names {
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// SyncsFor returns one sync function per directory of names. Each records for its names whether the
// sync failed.
//
// The functions may run in parallel.
func (d *Disk) SyncsFor(names Relied) []func() error {
	in := map[string][]string{}
	for _, name := range names {
		in[path.Dir(name)] = append(in[path.Dir(name)], name)
	}
	var syncs []func() error
	for _, dir := range Dirs(names) {
		syncs = append(syncs, func() error {
			err := d.SyncDir(dir, osfs.Order)
			d.SetSyncFailed(in[dir], err != nil)
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

// SyncDirs syncs directories in parallel.
func (d *Disk) SyncDirs(kind osfs.Sync, dirs ...string) error {
	return d.SyncAll(d.DirSyncs(kind, dirs)...)
}

// DirSyncs returns one sync function per directory.
func (d *Disk) DirSyncs(kind osfs.Sync, dirs []string) []func() error {
	var syncs []func() error
	for _, dir := range dirs {
		syncs = append(syncs, func() error { return d.SyncDir(dir, kind) })
	}
	return syncs
}

// SyncOrRewrite makes a changed entry durable. When the sync fails, either state of the directory may be durable: the
// file at name is written again with its content, so that a later sync applies to it (docs/design.md#failed-sync).
func (d *Disk) SyncOrRewrite(name string, content Content) error {
	err := d.SyncDir(path.Dir(name), osfs.Durable)
	if err != nil {
		d.Rewrite(name, content)
	}
	return err
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
