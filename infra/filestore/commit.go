package filestore

import (
	"bytes"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
)

// suspectFile marks a log of whose manifest a sync failed.
const suspectFile = "suspect"

// commit writes the group in one piece and syncs it: the third barrier, and the
// only one that makes anything true.
func (a *appending) commit() error {
	// One write: in pieces, another writer's bytes could come between them where
	// locks do not hold, and a crash would have more ways to tear it.
	n, err := a.manifest.Write(a.group)
	if err != nil {
		return a.takeBack(err, n == len(a.group))
	}
	// Asked of the open file, not by name: this is about the bytes just written.
	info, err := a.manifest.Stat()
	if err != nil {
		return a.takeBack(err, true)
	}
	same := true
	if a.s.o.AllowNetworkFS {
		// A writer whom the lock did not stop may also have put a new file in place.
		now, err := a.s.fs.Stat(a.file())
		same = err == nil && osfs.SameFile(info, now)
	}
	if info.Size != a.next.Bytes || !same {
		return a.collide(info.Size)
	}
	if err := a.manifest.Sync(osfs.Durable); err != nil {
		return a.takeBack(err, true)
	}
	return nil
}

// takeBack makes the log what it was before the group: a sync that failed once
// proves nothing when it later succeeds, so only a shorter file that was synced
// says that nothing was recorded (R7). Where the group is not all there, no
// reader takes it for one, and the next writer cuts it.
func (a *appending) takeBack(cause error, whole bool) error {
	err := a.manifest.Truncate(a.at.Bytes)
	if err == nil {
		err = a.manifest.Sync(osfs.Durable)
	}
	if err == nil {
		return cause
	}
	// Two witnesses, since either may fail on a disk that fails: the announcement
	// that stays in the lock file, and the mark beside the manifest.
	a.doubtful = true
	a.s.markSuspect(a.log)
	if !whole {
		return cause
	}
	return fault.Wrap(errors.Join(cause, err), fault.StoreOutcomeUnknown,
		"writing %s failed, and so did taking it back: whether it was recorded shows when it is read again", a.file()).
		With("path", a.file())
}

// collide: somebody wrote to the log although it was locked. Our own group is
// taken off the end if it stands there, since it fits no head any more; what the
// other one wrote is left alone.
func (a *appending) collide(size int64) error {
	// At or before our own head the bytes would be the commit itself, or another's:
	// only what stands behind somebody else's group can be taken off.
	start := size - int64(len(a.group))
	if start > a.at.Bytes {
		last := make([]byte, len(a.group))
		if n, _ := a.manifest.ReadAt(last, start); n == len(last) && bytes.Equal(last, a.group) {
			_ = a.manifest.Truncate(start)
		}
	}
	return a.moved()
}

// markSuspect is best effort: it is called when the disk fails already.
func (s *Store) markSuspect(log manifest.Log) {
	f, err := s.fs.Open(path.Join(log.Root, suspectFile), osfs.New)
	if err == nil {
		_ = f.Close()
		_ = s.fs.SyncDir(log.Root, osfs.Durable)
	}
}

// renew copies the valid prefix of a manifest to a new file, whose syncs mean
// what they say, and lifts the mark (R7). The log's lock is held.
func (s *Store) renew(log manifest.Log, valid int64) error {
	if err := s.settleArrival(log.Root); err != nil {
		return err
	}
	name := path.Join(log.Root, manifest.FileName)
	old, err := s.fs.Open(name, osfs.Read)
	if err != nil {
		return err
	}
	// What is read comes from memory if the disk lost it: written to a new file, it
	// is there again. That may make a group true whose writer got no answer; its
	// caller was told that the log decides.
	prefix := make([]byte, valid)
	n, err := old.ReadAt(prefix, 0)
	_ = old.Close()
	if n < len(prefix) {
		return err
	}
	temp, err := s.tempName(log.Root)
	if err != nil {
		return err
	}
	if err = s.writeTemp(temp, prefix); err == nil {
		err = s.fs.Replace(temp, name)
	}
	if err != nil {
		_ = s.fs.Remove(temp)
		return err
	}
	if err := s.fs.SyncDir(log.Root, osfs.Durable); err != nil {
		return err
	}
	// Not synced: a mark that comes back costs a copy more, nothing else.
	if err := s.fs.Remove(path.Join(log.Root, suspectFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
