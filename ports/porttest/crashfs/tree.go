package crashfs

import (
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/waybill/waybill/infra/osfs"
)

var _ osfs.FS = (*FS)(nil)

// fail wraps err as *fs.PathError, the form in which an operating system reports errors.
func fail(op Op, err error) error { return &fs.PathError{Op: op.Action, Path: op.Name, Err: err} }

// find returns the inode of a slash-separated name, or fs.ErrNotExist; a file in the place of a
// parent directory is ENOTDIR. The simulated disk has no links.
func (f *FS) find(name string) (*inode, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	n := f.root
	if name == "." {
		return n, nil
	}
	for _, step := range strings.Split(name, "/") {
		if !n.dir {
			return nil, syscall.ENOTDIR
		}
		next, ok := n.entries[step]
		if !ok {
			return nil, fs.ErrNotExist
		}
		n = next
	}
	return n, nil
}

// parent returns the directory that holds name, and the last element of name.
func (f *FS) parent(name string) (dir *inode, base string, err error) {
	dir, err = f.find(path.Dir(name))
	if err == nil && !dir.dir {
		err = syscall.ENOTDIR
	}
	return dir, path.Base(name), err
}

// link sets an entry of a directory, or removes it (to is nil), at the next point in time.
func (f *FS) link(dir *inode, base string, to *inode) {
	f.seq++
	dir.link(base, to, f.seq)
}

// Place implements osfs.FS: it moves a file or directory, and an existing target is fs.ErrExist.
func (f *FS) Place(from, to string) error { return f.move("place", from, to, false) }

// Replace implements osfs.FS: it moves a file or directory over an existing target.
func (f *FS) Replace(from, to string) error { return f.move("rename", from, to, true) }

// move is Place and Replace; the operation is recorded under its new name.
func (f *FS) move(do, from, to string, replace bool) error {
	op, act, flaw, err := f.op(do, to, 0, 0)
	if err != nil {
		return err
	}
	return f.done(op, flaw, f.rename(from, to, replace || act == Overwrite))
}

func (f *FS) rename(from, to string, replace bool) error {
	n, err := f.find(from)
	if err != nil {
		return err
	}
	oldDir, oldBase, err := f.parent(from)
	if err != nil {
		return err
	}
	newDir, newBase, err := f.parent(to)
	if err != nil {
		return err
	}
	if _, taken := newDir.entries[newBase]; taken && !replace {
		return fs.ErrExist
	}
	// A rename changes two entries, and each is lost or kept independently of the other. Journaling
	// filesystems keep both or neither, but a program must not rely on that.
	f.link(newDir, newBase, n)
	f.link(oldDir, oldBase, nil)
	return nil
}

// Remove implements osfs.FS: it removes a file or an empty directory. Open handles stay usable.
func (f *FS) Remove(name string) error {
	op, _, flaw, err := f.op("remove", name, 0, 0)
	if err != nil {
		return err
	}
	n, err := f.find(name)
	if err == nil && n.dir && len(n.entries) > 0 {
		err = syscall.ENOTEMPTY
	}
	if err == nil {
		dir, base, _ := f.parent(name)
		f.link(dir, base, nil)
	}
	return f.done(op, flaw, err)
}

// Mkdir implements osfs.FS. The root directory always exists.
func (f *FS) Mkdir(name string) error {
	op, _, flaw, err := f.op("mkdir", name, 0, 0)
	if err != nil {
		return err
	}
	dir, base, err := f.parent(name)
	if err == nil {
		if _, taken := dir.entries[base]; taken || name == "." {
			err = fs.ErrExist
		} else {
			f.link(dir, base, newDir())
		}
	}
	return f.done(op, flaw, err)
}

// List implements osfs.FS. The order of the entries is random, as a program must not rely on it.
func (f *FS) List(name string) ([]osfs.Entry, error) {
	op, _, flaw, err := f.op("list", name, 0, 0)
	if err != nil {
		return nil, err
	}
	n, err := f.find(name)
	var out []osfs.Entry
	if err == nil && !n.dir {
		err = syscall.ENOTDIR
	}
	if err == nil {
		for key, e := range n.entries {
			out = append(out, osfs.Entry{Name: key, Kind: e.kind()})
		}
	}
	return out, f.done(op, flaw, err)
}

// kind is the kind that a listing reports.
func (n *inode) kind() osfs.Kind {
	if n.dir {
		return osfs.Directory
	}
	return osfs.Regular
}

// info is what Stat reports. The inode itself is the identity: two names of one file have the same.
func (n *inode) info() osfs.Info {
	if n.dir {
		return osfs.Info{Kind: osfs.Directory, Perm: 0o700, ID: n}
	}
	return osfs.Info{Kind: osfs.Regular, Perm: 0o600, Size: int64(len(n.now)), ID: n}
}

// Stat implements osfs.FS.
func (f *FS) Stat(name string) (osfs.Info, error) {
	op, act, flaw, err := f.op("stat", name, 0, 0)
	if err != nil {
		return osfs.Info{}, err
	}
	n, err := f.find(name)
	if act == HideFile {
		err = fs.ErrNotExist
	}
	var info osfs.Info
	if err == nil {
		info = n.info() // before done, which unlocks: another goroutine may change it then
	}
	return info, f.done(op, flaw, err)
}

// SyncDir implements osfs.FS. It makes the entries of one directory durable, not the contents of
// the files in it and not the entry of the directory in its parent.
func (f *FS) SyncDir(name string, kind osfs.Sync) error {
	op, act, flaw, err := f.op("syncdir", name, 0, kind)
	if err != nil {
		return err
	}
	n, err := f.find(name)
	if err == nil {
		f.sync(n, act, flaw, op)
	}
	return f.done(op, flaw, err)
}

// sync carries out a sync as the act and the fault require. It counts as a change even where it
// does nothing, so that an exploration examines the disk after it.
func (f *FS) sync(n *inode, act Act, flaw *Fault, op Op) {
	f.seq++
	switch {
	case flaw != nil && !flaw.After && flaw.Err == nil: // killed before the sync
	case flaw != nil && !flaw.After:
		n.failSync()
	case act == Skip:
	case act == Postpone:
		f.postponed = append(f.postponed, postponed{n, op})
	default:
		n.sync()
	}
}

// SyncAll implements osfs.FS. It calls the functions one after the other, so that operations have
// the same numbers in every run. It calls all of them and returns the first error.
func (f *FS) SyncAll(syncs ...func() error) error {
	var first error
	for _, sync := range syncs {
		if err := sync(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Volume implements osfs.FS; a test sets Vol.
func (f *FS) Volume() (osfs.Volume, error) { return f.Vol, nil }
