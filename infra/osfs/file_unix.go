//go:build linux || darwin

package osfs

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// openFile is a plain descriptor: os.File would register each with the poller
// and guard it with locks that one append, one owner does not need.
type openFile struct {
	fd   int
	name string
	was  Info // when it was opened
}

var modeFlags = [...]int{
	Read: unix.O_RDONLY, New: unix.O_RDWR | unix.O_CREAT | unix.O_EXCL,
	Append: unix.O_RDWR | unix.O_APPEND, Update: unix.O_RDWR,
}

// Open implements FS. A pipe or device in the store's place is refused without
// waiting for its other end.
func (d *Dir) Open(name string, mode Mode) (File, error) {
	root, err := d.root()
	if err != nil {
		return nil, fail("open", name, err)
	}
	fd, err := openBeneath(root, name, modeFlags[mode]|unix.O_NONBLOCK, privateFile)
	if err != nil {
		return nil, fail("open", name, err)
	}
	f := &openFile{fd: fd, name: name}
	info, err := f.Stat()
	f.was = info
	switch {
	case err != nil:
	case info.Kind != Regular:
		err = fail("open", name, ErrNotRegular)
	case mode == New && info.Perm != privateFile: // the umask took bits that the owner needs
		err = fail("open", name, unix.Fchmod(fd, privateFile))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (f *openFile) opened() Info { return f.was }

// ReadAt reads as io.ReaderAt wants: all of p, or the reason why not.
func (f *openFile) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		m, err := unix.Pread(f.fd, p[n:], at+int64(n))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return n, fail("read", f.name, err)
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

// Write implements File. What the system takes in pieces is still one group in
// the file: appending is atomic only while the log's lock is held.
func (f *openFile) Write(p []byte) (int, error) {
	return f.put(p, func(rest []byte, _ int64) (int, error) { return unix.Write(f.fd, rest) }, 0)
}

// WriteAt implements File.
func (f *openFile) WriteAt(p []byte, at int64) (int, error) {
	return f.put(p, func(rest []byte, at int64) (int, error) { return unix.Pwrite(f.fd, rest, at) }, at)
}

// put repeats what the system takes in pieces. What it counts is what is in the
// file: the caller decides by it whether a group can be whole.
func (f *openFile) put(p []byte, write func([]byte, int64) (int, error), at int64) (n int, err error) {
	for n < len(p) {
		m, err := write(p[n:], at+int64(n))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return n, fail("write", f.name, err)
		case m == 0: // would go on for ever
			return n, fail("write", f.name, io.ErrShortWrite)
		default:
			n += m
		}
	}
	return n, nil
}

// Truncate implements File.
func (f *openFile) Truncate(size int64) error {
	return fail("truncate", f.name, retry(func() error { return unix.Ftruncate(f.fd, size) }))
}

// Stat implements File.
func (f *openFile) Stat() (Info, error) {
	var st unix.Stat_t
	err := unix.Fstat(f.fd, &st)
	return infoOf(&st), fail("stat", f.name, err)
}

// Sync implements File. It is not repeated on any error: a second sync that
// succeeds proves nothing about what the first one lost (R7).
func (f *openFile) Sync(kind Sync) error { return fail("sync", f.name, syncFD(f.fd, kind)) }

// Close implements File.
func (f *openFile) Close() error {
	if f.fd < 0 {
		return fail("close", f.name, fs.ErrClosed)
	}
	err := unix.Close(f.fd)
	f.fd = -1
	return fail("close", f.name, err)
}
