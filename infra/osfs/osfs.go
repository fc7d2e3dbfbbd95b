// Package osfs is the seam between a store and the disk: the few file operations
// that a store performs, each with the promise that the store relies on, so that
// a test can fail, tear or forget any one of them. Dir is the real one. The
// package knows no record and no layout.
//
// It stands beside filestore, not inside, because locks, keys and caches write
// through the same seam, and because the system calls of three platforms would
// bury the commit protocol.
package osfs

import (
	"errors"
	"io/fs"
)

// FS is one directory tree. Names are relative to its root, with slashes, "." is
// the root; one that would leave the root, or that passes a symbolic link, is
// refused. Errors carry such names, never absolute paths, and satisfy errors.Is
// for fs.ErrNotExist, fs.ErrExist, ErrSymlink and the system's own numbers.
type FS interface {
	// Open gives a regular file; see Mode for what becomes of one that is not there.
	Open(name string, mode Mode) (File, error)
	// Place renames from, a file or a directory, to to, which must not be there:
	// fs.ErrExist otherwise.
	Place(from, to string) error
	// Replace renames from over to: whoever opens to gets the one or the other.
	Replace(from, to string) error
	// Remove unlinks a file or an empty directory.
	Remove(name string) error
	// Mkdir makes one private directory; fs.ErrExist when something is there. The
	// root itself is made with its missing parents, durably.
	Mkdir(name string) error
	// List gives the entries of a directory in no order.
	List(name string) ([]Entry, error)
	// Stat tells about what the name itself is: links are not followed.
	Stat(name string) (Info, error)
	// SyncDir promises for the entries of a directory what Sync does for bytes.
	SyncDir(name string, kind Sync) error
	// Together runs syncs side by side and joins their errors: what each waits for
	// is the disk, and flushes that wait at the same time cost one.
	Together(syncs ...func() error) error
	// Volume tells what the root lies on.
	Volume() (Volume, error)
}

// File is an open regular file.
type File interface {
	ReadAt(p []byte, at int64) (int, error)
	// Write puts all of p behind what was written before, or behind the end of the
	// file in mode Append. With an error, n bytes were written and no more.
	Write(p []byte) (n int, err error)
	WriteAt(p []byte, at int64) (int, error)
	Truncate(size int64) error
	Stat() (Info, error)
	Sync(kind Sync) error
	Close() error
}

// Opened tells about a file as it was when it was opened. To open a file is to look at
// it, where this package does: then no second look is taken.
func Opened(f File) (Info, error) {
	if f, ok := f.(interface{ opened() Info }); ok {
		return f.opened(), nil
	}
	return f.Stat()
}

// Mode says what a file is opened for.
type Mode int

// The modes.
const (
	Read   Mode = iota // one that is there, to read and to sync
	New                // made now, private (0600) whatever the umask; fs.ErrExist when it is there
	Append             // one that is there; reads anywhere, writes at the end only
	Update             // one that is there; reads and writes anywhere
)

// Sync is how much a sync promises.
type Sync int

// The kinds of sync. On most systems both are one call.
const (
	// Order: what was written reaches the disk before anything that is written later.
	Order Sync = iota
	// Durable: what was written survives a power cut.
	Durable
)

// Kind is what a name stands for.
type Kind int

// The kinds. Other covers devices, sockets and pipes, which no store holds.
const (
	Regular Kind = iota
	Directory
	Symlink
	Other
)

// Entry is one name in a directory.
type Entry struct {
	Name string
	Kind Kind
}

// Info tells about a file. Two Infos are of one file when SameFile says so.
type Info struct {
	Kind Kind
	Perm fs.FileMode // permission bits; 0 where the platform has none
	Size int64
	ID   any // the platform's identity
}

// Volume is a filesystem's own word for its type; Network says that other
// machines may write to it, so that locks are not to be trusted (R12).
type Volume struct {
	Type    string
	Network bool
}

// The refusals that are the seam's own.
var (
	// ErrSymlink: the name is or passes a symbolic link.
	ErrSymlink = errors.New("a symbolic link, which no store holds")
	// ErrNotRegular: the name is something else than a regular file.
	ErrNotRegular = errors.New("not a regular file")
)

// Nobody but the owner: logs hold what people and agents wrote, keys sign tokens.
const (
	privateFile = 0o600
	privateDir  = 0o700
)

// fail names the file as the caller did.
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

// together runs all but one call on goroutines of their own. All of them finish,
// whatever some return: a sync that is still running when its file is closed would
// be of another file by then.
func together(calls []func() error) error {
	if len(calls) == 0 {
		return nil
	}
	last := len(calls) - 1
	results := make(chan error, last)
	for _, call := range calls[:last] {
		go func() { results <- call() }()
	}
	err := calls[last]()
	for range last {
		err = errors.Join(err, <-results)
	}
	return err
}
