package osfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// Dir is a directory of the disk. os.Root keeps every name inside the root; links that stay inside
// are refused by checking each directory on the path once. It is safe for concurrent use.
type Dir struct {
	path   string
	mu     sync.Mutex
	opened *os.Root
	plain  map[string]bool // directories that were checked and are no links
}

// NewDir returns the directory at the path dir, which need not exist.
func NewDir(dir string) *Dir { return &Dir{path: dir, plain: map[string]bool{}} }

// Path is the path that was passed to NewDir.
func (d *Dir) Path() string { return d.path }

// Close closes the root; open files stay open.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened == nil {
		return nil
	}
	err := d.opened.Close()
	d.opened = nil
	return fail("close", ".", err)
}

// root opens the root and checks the directories on the path of name.
func (d *Dir) root(name string) (*os.Root, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened == nil {
		r, err := os.OpenRoot(d.path)
		if err != nil {
			return nil, err
		}
		d.opened = r
	}
	// Each directory is checked once: one that becomes a link later cannot lead out of the root,
	// which os.Root prevents at every call.
	for dir := path.Dir(name); dir != "." && !d.plain[dir]; dir = path.Dir(dir) {
		fi, err := d.opened.Lstat(filepath.FromSlash(dir))
		if err != nil {
			return nil, err
		}
		if !fi.IsDir() {
			return nil, ErrSymlink
		}
		d.plain[dir] = true
	}
	return d.opened, nil
}

// abs is the path of a name for calls that take no os.Root.
func (d *Dir) abs(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// Place implements FS.
func (d *Dir) Place(from, to string) error { return d.move("place", from, to, 0) }

// Replace implements FS.
func (d *Dir) Replace(from, to string) error {
	return d.move("rename", from, to, windows.MOVEFILE_REPLACE_EXISTING)
}

// move renames with write-through; without flags an existing target is fs.ErrExist.
func (d *Dir) move(op, from, to string, flags uint32) error {
	for _, name := range []string{from, to} {
		if _, err := d.root(name); err != nil {
			return fail(op, name, err)
		}
	}
	old, err := windows.UTF16PtrFromString(d.abs(from))
	if err != nil {
		return fail(op, from, err)
	}
	next, err := windows.UTF16PtrFromString(d.abs(to))
	if err != nil {
		return fail(op, to, err)
	}
	return fail(op, to, retryWhileShared(func() error {
		return windows.MoveFileEx(old, next, flags|windows.MOVEFILE_WRITE_THROUGH)
	}))
}

// retryWhileShared repeats a call for about a second while a virus scanner or an indexer has the
// file open: an open file can be neither moved nor removed.
func retryWhileShared(call func() error) (err error) {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		err = call()
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(wait)
	}
	return err
}

// Remove implements FS.
func (d *Dir) Remove(name string) error {
	root, err := d.root(name)
	if err != nil {
		return fail("remove", name, err)
	}
	return fail("remove", name, retryWhileShared(func() error { return root.Remove(filepath.FromSlash(name)) }))
}

// Mkdir implements FS. Access follows from the parent's access control list.
func (d *Dir) Mkdir(name string) error {
	if name == "." {
		if _, err := os.Stat(d.path); err == nil {
			return fail("mkdir", name, fs.ErrExist)
		}
		return fail("mkdir", name, os.MkdirAll(d.path, privateDir))
	}
	root, err := d.root(name)
	if err != nil {
		return fail("mkdir", name, err)
	}
	return fail("mkdir", name, root.Mkdir(filepath.FromSlash(name), privateDir))
}

// List implements FS.
func (d *Dir) List(name string) ([]Entry, error) {
	root, err := d.root(path.Join(name, "x"))
	if err != nil {
		return nil, fail("list", name, err)
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, fail("list", name, err)
	}
	defer f.Close()
	entries, err := entriesOf(f)
	return entries, fail("list", name, err)
}

// SyncDir has no effect: Windows cannot flush a directory, and NTFS keeps the order of its entries
// in a journal.
func (d *Dir) SyncDir(name string, _ Sync) error {
	_, err := d.root(path.Join(name, "x"))
	return fail("sync", name, err)
}

// Stat implements FS.
func (d *Dir) Stat(name string) (Info, error) {
	root, err := d.root(name)
	if err != nil {
		return Info{}, fail("stat", name, err)
	}
	fi, err := root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return Info{}, fail("stat", name, err)
	}
	return InfoOf(fi), nil
}

// InfoOf is the Info of a file that another package opened.
func InfoOf(fi os.FileInfo) Info {
	return Info{Kind: kindOf(fi.Mode().Type()), Size: fi.Size(), ID: fi}
}

// SameFile reports that a and b describe one file.
func SameFile(a, b Info) bool {
	x, onDisk := a.ID.(os.FileInfo)
	y, both := b.ID.(os.FileInfo)
	if onDisk && both {
		return os.SameFile(x, y)
	}
	return a.ID != nil && a.ID == b.ID // of a tree in memory
}

// Volume implements FS.
func (d *Dir) Volume() (Volume, error) {
	full, err := filepath.Abs(d.path)
	if err != nil {
		return Volume{}, fail("statfs", ".", err)
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(full) + `\`)
	if err != nil {
		return Volume{}, fail("statfs", ".", err)
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return Volume{Type: "remote drive", Network: true}, nil
	}
	return Volume{Type: "local drive"}, nil
}

// Boot is unknown on Windows.
func Boot() string { return "" }
