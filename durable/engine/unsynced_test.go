package engine_test

import (
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// unsynced is a directory whose files and directories are never synced. What a sync promises
// is explored on simulated disks; on a real one it costs these tests more than all the rest.
type unsynced struct{ *osfs.Dir }

func (unsynced) SyncDir(string, osfs.Sync) error { return nil }

func (u unsynced) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f, err := u.Dir.Open(name, mode)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ osfs.File }

func (unsyncedFile) Sync(osfs.Sync) error { return nil }

// openUnsynced is filestore.OpenDir without syncs. The directory is closed with the test.
func openUnsynced(t interface{ Cleanup(func()) }, dir string, o filestore.Options) (*filestore.Store, error) {
	d := osfs.NewDir(dir)
	t.Cleanup(func() { _ = d.Close() })
	o.Locks, o.Boot = lock.Files(d), osfs.Boot()
	return filestore.Open(unsynced{d}, o)
}
