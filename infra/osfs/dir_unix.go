//go:build linux || darwin

package osfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Dir is a directory of the disk. Its root is opened at the first use and kept open: when the
// directory is moved, operations continue on the one that was opened, and never write to a new
// directory at the same path. It is safe for concurrent use.
type Dir struct {
	path   string
	mu     sync.Mutex
	fd     int // the open root, or -1
	starts starts
}

// NewDir returns the directory at the path dir, which need not exist.
func NewDir(dir string) *Dir { return &Dir{path: dir, fd: -1} }

// Path is the path that was passed to NewDir.
func (d *Dir) Path() string { return d.path }

// Close closes the root; open files stay open.
func (d *Dir) Close() error {
	d.starts.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		return nil
	}
	err := unix.Close(d.fd)
	d.fd = -1
	return fail("close", ".", err)
}

// root opens the root, following links on the way to it: the user chooses the location of a store,
// and only names inside must not be links.
func (d *Dir) root() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		fd, err := unix.Open(d.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, err
		}
		d.fd = fd
	}
	return d.fd, nil
}

// open opens name below the root.
func (d *Dir) open(name string, flags int) (int, error) {
	root, err := d.root()
	if err != nil {
		return -1, err
	}
	return openBeneath(root, name, flags, privateFile)
}

// dirEntry is a name in an open directory, as the *at system calls expect it.
type dirEntry struct {
	dir  int
	base string
	own  bool // dir was opened for this call, and close closes it
}

// close closes the directory unless it is the root.
func (e dirEntry) close() {
	if e.own {
		_ = unix.Close(e.dir)
	}
}

// parent opens the directory that contains name, refusing links on the way.
func (d *Dir) parent(name string) (dirEntry, error) {
	root, err := d.root()
	if err != nil {
		return dirEntry{}, err
	}
	return parentOf(root, name)
}

// parentOf is parent for an open root. A name that is not valid in package fs is fs.ErrInvalid.
func parentOf(root int, name string) (dirEntry, error) {
	if !fs.ValidPath(name) {
		return dirEntry{}, fs.ErrInvalid
	}
	dir, base := path.Split(name)
	if dir == "" {
		return dirEntry{dir: root, base: base}, nil
	}
	fd, err := openBeneath(root, path.Clean(dir), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	return dirEntry{dir: fd, base: base, own: true}, err
}

// Place implements FS.
func (d *Dir) Place(from, to string) error {
	return d.rename("place", from, to, renameNoReplace)
}

// Replace implements FS.
func (d *Dir) Replace(from, to string) error { return d.rename("rename", from, to, unix.Renameat) }

// rename runs call with the open parents of both names.
func (d *Dir) rename(op, from, to string, call func(int, string, int, string) error) error {
	a, err := d.parent(from)
	if err != nil {
		return fail(op, from, err)
	}
	defer a.close()
	// Most renames stay in one directory, which is then opened once.
	b := dirEntry{dir: a.dir, base: path.Base(to)}
	if path.Dir(from) != path.Dir(to) {
		if b, err = d.parent(to); err != nil {
			return fail(op, to, err)
		}
		defer b.close()
	}
	return fail(op, to, retry(func() error { return call(a.dir, a.base, b.dir, b.base) }))
}

// linkNoReplace is Place for filesystems without the flag: link fails for an existing name. A crash
// between its two calls leaves a second name of the same file, which is harmless.
func linkNoReplace(fromDir int, from string, toDir int, to string) error {
	var st unix.Stat_t
	if unix.Fstatat(fromDir, from, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return claimDirNoReplace(fromDir, from, toDir, to)
	}
	if err := unix.Linkat(fromDir, from, toDir, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(fromDir, from, 0)
}

// claimDirNoReplace is linkNoReplace for directories, which have only one name: an empty directory
// claims the name, and a rename replaces no other kind of directory. A crash between the two calls
// leaves the empty one.
func claimDirNoReplace(fromDir int, from string, toDir int, to string) error {
	if err := unix.Mkdirat(toDir, to, privateDir); err != nil {
		return err
	}
	err := unix.Renameat(fromDir, from, toDir, to)
	if err != nil {
		_ = unix.Unlinkat(toDir, to, unix.AT_REMOVEDIR)
	}
	return err
}

// Remove implements FS.
func (d *Dir) Remove(name string) error {
	a, err := d.parent(name)
	if err != nil {
		return fail("remove", name, err)
	}
	defer a.close()
	// Unlinking a directory as a file fails with an error of its own; only then it is removed as a
	// directory, so that a link to a directory is removed and not its target.
	err = unix.Unlinkat(a.dir, a.base, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) { // Linux, darwin
		if err2 := unix.Unlinkat(a.dir, a.base, unix.AT_REMOVEDIR); !errors.Is(err2, unix.ENOTDIR) {
			err = err2
		}
	}
	return fail("remove", name, err)
}

// Mkdir implements FS.
func (d *Dir) Mkdir(name string) error {
	if name == "." {
		return fail("mkdir", name, d.mkroot(filepath.Clean(d.path)))
	}
	a, err := d.parent(name)
	if err != nil {
		return fail("mkdir", name, err)
	}
	defer a.close()
	var st unix.Stat_t
	if err = unix.Mkdirat(a.dir, a.base, privateDir); err == nil {
		err = unix.Fstatat(a.dir, a.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err == nil && st.Mode&0o777 != privateDir { // the umask removed bits that the owner needs
		err = unix.Fchmodat(a.dir, a.base, privateDir, 0)
	}
	return fail("mkdir", name, err)
}

// mkroot creates the root and its parents and syncs the entry of each: a durable commit requires a
// durable path to it.
func (d *Dir) mkroot(dir string) error {
	err := os.Mkdir(dir, privateDir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := d.mkroot(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		err = os.Mkdir(dir, privateDir)
	}
	if err != nil {
		return err
	}
	// The umask may have removed bits that the owner needs.
	if err := os.Chmod(dir, privateDir); err != nil {
		return err
	}
	parent := NewDir(filepath.Dir(dir))
	defer parent.Close()
	return parent.SyncDir(".", Durable)
}

// List implements FS.
func (d *Dir) List(name string) ([]Entry, error) {
	fd, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, fail("list", name, err)
	}
	// The full path lets package os stat entries whose type the filesystem does not return.
	f := os.NewFile(uintptr(fd), filepath.Join(d.path, filepath.FromSlash(name)))
	defer f.Close()
	entries, err := entriesOf(f)
	return entries, fail("list", name, err)
}

// SyncDir implements FS.
func (d *Dir) SyncDir(name string, kind Sync) error {
	fd, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return fail("sync", name, err)
	}
	defer unix.Close(fd)
	return fail("sync", name, syncDirFD(fd, kind))
}

// Volume implements FS. A root that does not exist will be on the filesystem of the nearest
// existing directory above it.
func (d *Dir) Volume() (Volume, error) {
	for dir := filepath.Clean(d.path); ; dir = filepath.Dir(dir) {
		v, err := d.volumeOf(dir)
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return v, fail("statfs", ".", err)
		}
	}
}

// retry repeats a call that a signal interrupted before it had an effect.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
