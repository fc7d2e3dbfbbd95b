//go:build linux || darwin

package osfs

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// openFile is a plain descriptor: os.File would register each with the poller and guard it with
// locks, which a file with a single user does not need.
type openFile struct {
	fd       int
	name     string
	openInfo Info // at the time of opening
}

// modeFlags are the flags of each Mode.
var modeFlags = [...]int{
	Read: unix.O_RDONLY, New: unix.O_RDWR | unix.O_CREAT | unix.O_EXCL,
	Append: unix.O_RDWR | unix.O_APPEND, Update: unix.O_RDWR,
}

// Open implements FS. O_NONBLOCK refuses a pipe or device without waiting for its other end.
func (d *Dir) Open(name string, mode Mode) (File, error) {
	fd, err := d.open(name, modeFlags[mode]|unix.O_NONBLOCK)
	if err != nil {
		return nil, fail("open", name, err)
	}
	f := &openFile{fd: fd, name: name}
	info, err := f.Stat()
	f.openInfo = info
	switch {
	case err != nil:
	case info.Kind != Regular:
		err = fail("open", name, ErrNotRegular)
	case mode == New && info.Perm != privateFile: // the umask removed bits that the owner needs
		err = fail("open", name, unix.Fchmod(fd, privateFile))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// opened implements the interface of InfoAtOpen.
func (f *openFile) opened() Info { return f.openInfo }

// ReadAt implements io.ReaderAt: it reads all of p or returns an error.
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

// Write implements File. The system may accept p in several parts, so appending is atomic only
// while the log's lock is held.
func (f *openFile) Write(p []byte) (int, error) {
	return f.writeAll(p, func(rest []byte, _ int64) (int, error) { return unix.Write(f.fd, rest) }, 0)
}

// WriteAt implements File.
func (f *openFile) WriteAt(p []byte, at int64) (int, error) {
	return f.writeAll(p, func(rest []byte, at int64) (int, error) { return unix.Pwrite(f.fd, rest, at) }, at)
}

// writeAll repeats writes that the system accepts in part. n is exactly the number of bytes in the
// file: the caller decides by it whether a group may be complete.
func (f *openFile) writeAll(p []byte, write func([]byte, int64) (int, error), at int64) (n int, err error) {
	for n < len(p) {
		m, err := write(p[n:], at+int64(n))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return n, fail("write", f.name, err)
		case m == 0: // the loop would not end
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

// Sync implements File. It is never repeated: a second sync that succeeds proves nothing about what
// the first one lost (docs/design.md#failed-sync).
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
