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

// Dir is a directory of the disk. Its root is opened at the first use and held:
// a directory that is moved away while open is still the one that was opened,
// and a new one in its place is not written to by mistake.
type Dir struct {
	path string
	mu   sync.Mutex
	fd   int // the root, or -1
}

// NewDir names a directory, which need not be there yet.
func NewDir(dir string) *Dir { return &Dir{path: dir, fd: -1} }

// Path is the directory as it was named.
func (d *Dir) Path() string { return d.path }

// Close lets go of the root; files that are open stay so.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		return nil
	}
	err := unix.Close(d.fd)
	d.fd = -1
	return fail("close", ".", err)
}

// root follows links on the way to the directory: where a store lies is the
// person's choice, only what is inside must be the store's own.
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

// at is a name inside an open directory, for the calls that take such a pair.
type at struct {
	dir  int
	base string
	own  bool // dir was opened for this call
}

func (a at) close() {
	if a.own {
		_ = unix.Close(a.dir)
	}
}

// parent opens the directory that name stands in, refusing links on the way.
func (d *Dir) parent(name string) (at, error) {
	root, err := d.root()
	if err != nil {
		return at{}, err
	}
	return parentOf(root, name)
}

func parentOf(root int, name string) (at, error) {
	if !fs.ValidPath(name) {
		return at{}, fs.ErrInvalid
	}
	dir, base := path.Split(name)
	if dir == "" {
		return at{dir: root, base: base}, nil
	}
	fd, err := openBeneath(root, path.Clean(dir), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	return at{dir: fd, base: base, own: true}, err
}

// Place implements FS.
func (d *Dir) Place(from, to string) error {
	return d.rename("place", from, to, renameNoReplace)
}

// Replace implements FS.
func (d *Dir) Replace(from, to string) error { return d.rename("rename", from, to, unix.Renameat) }

func (d *Dir) rename(op, from, to string, call func(int, string, int, string) error) error {
	a, err := d.parent(from)
	if err != nil {
		return fail(op, from, err)
	}
	defer a.close()
	// Most moves stay in one folder, which then is opened once.
	b := at{dir: a.dir, base: path.Base(to)}
	if path.Dir(from) != path.Dir(to) {
		if b, err = d.parent(to); err != nil {
			return fail(op, to, err)
		}
		defer b.close()
	}
	return fail(op, to, retry(func() error { return call(a.dir, a.base, b.dir, b.base) }))
}

// linkNoReplace is Place for filesystems without the flag: link refuses a name
// that is there. A crash between its two steps leaves a second name, no harm.
func linkNoReplace(fromDir int, from string, toDir int, to string) error {
	var st unix.Stat_t
	if unix.Fstatat(fromDir, from, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return claimNoReplace(fromDir, from, toDir, to)
	}
	if err := unix.Linkat(fromDir, from, toDir, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(fromDir, from, 0)
}

// claimNoReplace is linkNoReplace for folders, which have one name only: the name is
// claimed by an empty folder, and a rename replaces no other. A crash between the two
// leaves the empty one.
func claimNoReplace(fromDir int, from string, toDir int, to string) error {
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
	// Unlinking a directory as a file says so; only then is it tried as one, so that
	// a link to a directory is removed and not what it leads to.
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
	if err := unix.Mkdirat(a.dir, a.base, privateDir); err != nil {
		return fail("mkdir", name, err)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(a.dir, a.base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fail("mkdir", name, err)
	}
	if st.Mode&0o777 != privateDir { // the umask took bits that the owner needs
		return fail("mkdir", name, unix.Fchmodat(a.dir, a.base, privateDir, 0))
	}
	return nil
}

// mkroot makes the root and its parents; the entry of each is synced, since a
// commit inside is worth nothing when the way to it is lost.
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
	// The umask may have taken bits that the owner needs.
	if err := os.Chmod(dir, privateDir); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	return syncFD(int(parent.Fd()), Durable)
}

// List implements FS.
func (d *Dir) List(name string) ([]Entry, error) {
	root, err := d.root()
	if err != nil {
		return nil, fail("list", name, err)
	}
	fd, err := openBeneath(root, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fail("list", name, err)
	}
	// The full path lets os look at entries whose type the filesystem withholds.
	f := os.NewFile(uintptr(fd), filepath.Join(d.path, filepath.FromSlash(name)))
	defer f.Close()
	found, err := f.ReadDir(-1)
	if err != nil {
		return nil, fail("list", name, err)
	}
	entries := make([]Entry, len(found))
	for i, e := range found {
		entries[i] = Entry{Name: e.Name(), Kind: kindOf(e.Type())}
	}
	return entries, nil
}

// SyncDir implements FS.
func (d *Dir) SyncDir(name string, kind Sync) error {
	root, err := d.root()
	if err != nil {
		return fail("sync", name, err)
	}
	fd, err := openBeneath(root, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return fail("sync", name, err)
	}
	defer unix.Close(fd)
	return fail("sync", name, syncDirFD(fd, kind))
}

// Volume implements FS. A root that is not there yet will lie where the nearest
// folder above it does.
func (d *Dir) Volume() (Volume, error) {
	for dir := filepath.Clean(d.path); ; dir = filepath.Dir(dir) {
		v, err := d.volumeOf(dir)
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return v, fail("statfs", ".", err)
		}
	}
}

// Together implements FS.
func (d *Dir) Together(syncs ...func() error) error { return together(syncs) }

// retry repeats a call that a signal interrupted before it did anything.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
