package lock

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/waybill/waybill/infra/osfs"
)

// Files gives locks that hold between processes, on the files of dir. The lock
// ends with the process, however it ends.
func Files(dir *osfs.Dir) *Locks {
	return &Locks{fs: dir, keep: files{dir.Path()}, pid: os.Getpid()}
}

type files struct{ dir string }

// try opens the file only to read: it is made, written and checked through the
// seam, which follows no link; what a link would lead to is locked at most, and
// let go when the names turn out to differ.
func (f files) try(name string, exclusive bool) (grip, bool, error) {
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
	return flocked{l}, ok, nil
}

// relative hides where the store lies, but not what went wrong.
func relative(name string, err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return fmt.Errorf("lock %s: %w", name, err)
}

type flocked struct{ l *flock.Flock }

func (f flocked) of() (osfs.Info, error) {
	fi, err := f.l.Stat()
	if err != nil {
		return osfs.Info{}, err
	}
	return osfs.InfoOf(fi), nil
}

func (f flocked) release() error { return f.l.Unlock() }
