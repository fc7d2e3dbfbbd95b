package commit

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// finishArrival completes an import that did not finish: it makes the rename of the session
// durable. It waits for imports in progress, since one of them may still move the session back.
// root is a log in the session. The lock of that log is held, the use lock is not.
func finishArrival(d *disk.Disk, root string) error {
	marked, err := d.HasArrivalMark(root)
	if !marked || err != nil {
		return err
	}
	held, err := d.LockUse(context.Background(), lock.Exclusive)
	if err != nil {
		return err
	}
	defer held.Unlock()
	return FinishArrivalLocked(d, root)
}

// FinishArrivalLocked is finishArrival under the exclusive use lock. A session that was moved back
// is SESSION_NOT_FOUND.
//
// By the content of the suspect file of root:
//   - no file: the import finished, or another process moved the session back;
//   - another content than a mark: a failed sync, which CopyManifest handles;
//   - a mark of an earlier boot: the rename survived the restart; sessions/ is synced again;
//   - a mark of this boot: the entry is renewed, then sessions/ is synced.
func FinishArrivalLocked(d *disk.Disk, root string) error {
	b, err := d.ReadFile(path.Join(root, layout.SuspectFile), disk.ArrivalMarkBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		if _, exists, err := d.Lookup(root); err != nil || exists {
			return err // its import finished
		}
		return fault.New(fault.SessionNotFound, "%s was removed by the process that imported it", root)
	}
	if err != nil || !strings.HasPrefix(string(b), disk.ArrivalMark) {
		return err
	}
	session := strings.Join(strings.SplitN(root, "/", 3)[:2], "/")
	if d.Boot != "" && string(b) == d.ArrivalMark() {
		// Within the boot of the import it is unknown whether a sync of the name failed: the
		// directory is renamed again, so that the sync below applies to the entry
		// (docs/design.md#failed-sync).
		if err := renewEntry(d, session); err != nil {
			return err
		}
	}
	err = d.SyncDir(path.Dir(session), osfs.Durable)
	d.SetSyncFailed([]string{session}, err != nil)
	return err
}

// renewEntry renames a directory away and back, which makes its entry new. It does not exist for a
// moment, so only a session that was never acknowledged is renamed. If it cannot be renamed back,
// the session is gone as if it had never been imported.
func renewEntry(d *disk.Disk, dir string) error {
	away, err := d.TempName(path.Dir(dir))
	if err != nil {
		return err
	}
	if err := d.Place(dir, away); err != nil {
		return err
	}
	for range disk.RollBackTries {
		if err = d.Place(away, dir); err == nil || errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return err
}
