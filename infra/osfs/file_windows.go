package osfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// openFile is an os.File whose errors contain the store-relative name.
type openFile struct {
	f    *os.File
	dir  *Dir
	name string
}

// modeFlags are the flags of each Mode.
var modeFlags = [...]int{
	Read: os.O_RDONLY, New: os.O_RDWR | os.O_CREATE | os.O_EXCL,
	Append: os.O_RDWR | os.O_APPEND, Update: os.O_RDWR,
}

// Open implements FS.
func (d *Dir) Open(name string, mode Mode) (File, error) {
	root, err := d.root(name)
	if err != nil {
		return nil, fail("open", name, err)
	}
	if mode != New {
		fi, err := root.Lstat(filepath.FromSlash(name))
		switch {
		case err != nil:
			return nil, fail("open", name, err)
		case kindOf(fi.Mode().Type()) == Symlink:
			return nil, fail("open", name, ErrSymlink)
		case !fi.Mode().IsRegular():
			return nil, fail("open", name, ErrNotRegular)
		}
	}
	f, err := root.OpenFile(filepath.FromSlash(name), modeFlags[mode], privateFile)
	if err != nil {
		return nil, fail("open", name, err)
	}
	return &openFile{f, d, name}, nil
}

// ReadAt implements File.
func (f *openFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.f.ReadAt(p, at)
	// Callers compare io.EOF directly.
	if err == io.EOF {
		return n, err
	}
	return n, fail("read", f.name, err)
}

// Write implements File.
func (f *openFile) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	return n, fail("write", f.name, err)
}

// WriteAt implements File.
func (f *openFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.f.WriteAt(p, at)
	return n, fail("write", f.name, err)
}

// Truncate implements File.
func (f *openFile) Truncate(size int64) error { return fail("truncate", f.name, f.f.Truncate(size)) }

// Stat implements File.
func (f *openFile) Stat() (Info, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return Info{}, fail("stat", f.name, err)
	}
	return InfoOf(fi), nil
}

// Sync implements File. Flushing requires write access, so a file that was opened for reading is
// opened once more.
func (f *openFile) Sync(Sync) error {
	err := f.f.Sync()
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		again, err := f.dir.Open(f.name, Update)
		if err != nil {
			return err
		}
		defer again.Close()
		return fail("sync", f.name, again.(*openFile).f.Sync())
	}
	return fail("sync", f.name, err)
}

// Close implements File.
func (f *openFile) Close() error { return fail("close", f.name, f.f.Close()) }
