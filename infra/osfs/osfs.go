// Package osfs defines the file operations that a store performs (FS and File), each with the
// guarantee that the store relies on, and implements them on a directory of the disk (Dir). Tests
// implement FS in memory and fail, tear or lose single operations. The package knows no record and
// no layout.
//
// Names never leave the root and never pass a symbolic link; files are private to their owner.
// Files that Dir creates have mode 0600, directories 0700.
//
// It is separate from filestore because locks, keys and caches use the same operations, and because
// the system calls of three platforms do not belong beside the commit protocol. Start with FS in
// this file; dir_*.go and file_*.go implement it per platform.
package osfs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// FS is one directory tree. Names are relative to its root, with slashes; "." is the root. A name
// that would leave the root or passes a symbolic link is refused. Errors contain such names, never
// absolute paths, and satisfy errors.Is for fs.ErrNotExist, fs.ErrExist, ErrSymlink and the
// system's error numbers.
type FS interface {
	// Open opens a regular file; Mode defines what happens to a missing or existing one. A name of
	// another kind is ErrNotRegular or ErrSymlink.
	Open(name string, mode Mode) (File, error)
	// Place renames from, a file or a directory, to a name that must not exist: fs.ErrExist
	// otherwise.
	Place(from, to string) error
	// Replace renames from over to: a process that opens to gets the old file or the new one.
	Replace(from, to string) error
	// Remove unlinks a file or an empty directory.
	Remove(name string) error
	// Mkdir creates one private directory; fs.ErrExist when the name exists. The root itself is
	// created with its missing parents, durably.
	Mkdir(name string) error
	// List returns the entries of a directory in no order.
	List(name string) ([]Entry, error)
	// Stat describes the name itself: links are not followed.
	Stat(name string) (Info, error)
	// SyncDir guarantees for the entries of a directory what File.Sync does for bytes.
	SyncDir(name string, kind Sync) error
	// SyncAll runs syncs in parallel and joins their errors: each waits for the disk, and flushes
	// that wait at the same time cost little more than one.
	SyncAll(syncs ...func() error) error
	// Volume describes the filesystem of the root.
	Volume() (Volume, error)
}

// File is an open regular file.
type File interface {
	// ReadAt is io.ReaderAt.
	ReadAt(p []byte, at int64) (int, error)
	// Write writes all of p after the bytes written before, or at the end of the file in mode
	// Append. After an error exactly n bytes were written.
	Write(p []byte) (n int, err error)
	// WriteAt is io.WriterAt; not for mode Append.
	WriteAt(p []byte, at int64) (int, error)
	// Truncate changes the length of the file.
	Truncate(size int64) error
	Stat() (Info, error)
	// Sync makes written bytes ordered or durable. After an error no later Sync of the same file
	// proves anything about the bytes written before (docs/design.md#failed-sync).
	Sync(kind Sync) error
	Close() error
}

// InfoAtOpen returns the metadata of f at the time of opening. Where Open has read it anyway, no
// further system call is made.
func InfoAtOpen(f File) (Info, error) {
	if f, ok := f.(interface{ opened() Info }); ok {
		return f.opened(), nil
	}
	return f.Stat()
}

// ReadStart reads the beginning of a file into b, with fewer system calls than Open and ReadAt. It does not examine what it
// reads: the name may be no regular file, the file may have more bytes, and a directory that was moved may be read where it
// is now (KeepDirs). So it is for bytes that a digest proves. ok is false where it read nothing: Open reports why.
func ReadStart(tree FS, name string, b []byte) (n int, ok bool) {
	t, ok := tree.(interface {
		readStart(name string, b []byte) (int, bool)
	})
	if !ok {
		return 0, false
	}
	return t.readStart(name, b)
}

// KeepDirs lets ReadStart keep directories open in which it reads many files, until done is called.
func KeepDirs(tree FS) (done func()) {
	if t, ok := tree.(interface{ keepDirs() (done func()) }); ok {
		return t.keepDirs()
	}
	return func() {}
}

// Mode defines what a file is opened for.
type Mode int

// The modes. Only New creates a file.
const (
	Read   Mode = iota // an existing file, to read and to sync
	New                // created, private (0600) under any umask; fs.ErrExist for an existing one
	Append             // an existing file; reads anywhere, writes at the end only
	Update             // an existing file; reads and writes anywhere
)

// Sync is the guarantee of a sync.
type Sync int

// The kinds of sync. On most systems both are one call.
const (
	// Order: bytes written before reach the disk before any bytes written later.
	Order Sync = iota
	// Durable: what was written survives a power cut.
	Durable
)

// Kind is the type of a directory entry.
type Kind int

// The kinds. Other covers devices, sockets and pipes, which no store holds.
const (
	Regular Kind = iota
	Directory
	Symlink
	Other
)

// Entry is one entry of a directory.
type Entry struct {
	Name string
	Kind Kind
}

// Info describes a file. SameFile reports whether two of them describe the same file.
type Info struct {
	Kind Kind
	Perm fs.FileMode // permission bits; 0 where the platform has none
	Size int64
	ID   any // the platform's identity
}

// Volume describes a filesystem. Type is the system's name or number for it. Network reports that
// other machines may write to it, so that file locks are not reliable
// (docs/design.md#network-filesystems).
type Volume struct {
	Type    string
	Network bool
}

// Errors of this package, beside those of the system.
var (
	// ErrSymlink: the name is a symbolic link, or passes one.
	ErrSymlink = errors.New("a symbolic link, which no store holds")
	// ErrNotRegular: the name is not a regular file.
	ErrNotRegular = errors.New("not a regular file")
)

// Files are private to their owner: logs contain what users and agents wrote, and keys sign tokens.
const (
	privateFile = 0o600
	privateDir  = 0o700
)

// fail wraps err with the name that the caller passed, in place of the system's path.
func fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// SyncAll implements FS: it runs all but one sync on goroutines of their own. It returns after all of
// them, also when some fail: a sync that is still running when its file is closed could apply to
// another file.
func (d *Dir) SyncAll(syncs ...func() error) error {
	errs := make([]error, len(syncs))
	var running sync.WaitGroup
	for i, call := range syncs {
		if i == len(syncs)-1 {
			errs[i] = call()
			break
		}
		running.Go(func() { errs[i] = call() })
	}
	running.Wait()
	return errors.Join(errs...)
}

// entriesOf reads the entries of an open directory.
func entriesOf(dir *os.File) ([]Entry, error) {
	listed, err := dir.ReadDir(-1)
	entries := make([]Entry, len(listed))
	for i, e := range listed {
		entries[i] = Entry{Name: e.Name(), Kind: kindOf(e.Type())}
	}
	return entries, err
}
