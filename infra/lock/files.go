package lock

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/waybill/waybill/infra/osfs"
)

// Files returns locks between processes on the files of dir. The operating system releases a lock
// when its process ends, in any way.
func Files(dir *osfs.Dir) *Locks {
	return &Locks{fs: dir, exclusion: fileExclusion{dir.Path()}, pid: os.Getpid()}
}

// fileExclusion locks files through the operating system.
type fileExclusion struct{ dir string }

// try opens the file for reading only: package osfs creates, writes and checks it and follows no
// link. At worst the target of a link is locked, and released when the comparison fails.
func (f fileExclusion) try(name string, exclusive bool) (lockedFile, bool, error) {
	if !fs.ValidPath(name) {
		return nil, false, fs.ErrInvalid
	}
	l := flock.New(filepath.Join(f.dir, filepath.FromSlash(name)), flock.SetFlag(os.O_RDONLY|openFlags))
	lock := l.TryRLock
	if exclusive {
		lock = l.TryLock
	}
	ok, err := lock()
	if err != nil {
		return nil, false, relative(name, err)
	}
	return flockedFile{l}, ok, nil
}

// relative removes the location of the store from the error, and keeps its cause.
func relative(name string, err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return fmt.Errorf("lock %s: %w", name, err)
}

// flockedFile is a file that is locked with flock.
type flockedFile struct{ l *flock.Flock }

func (f flockedFile) fileInfo() (osfs.Info, error) {
	fi, err := f.l.Stat()
	if err != nil {
		return osfs.Info{}, err
	}
	return osfs.InfoOf(fi), nil
}

func (f flockedFile) release() error { return f.l.Unlock() }
