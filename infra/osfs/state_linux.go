package osfs

import (
	"errors"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Observer reads the states of files below a directory, which it keeps open. Folders on the way may be links; the
// file itself is not followed. It is safe for concurrent use.
type Observer struct{ fd int }

// Observe opens a directory.
func Observe(dir string) (Observer, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return Observer{fd}, err
}

// Close closes the directory.
func (o Observer) Close() { _ = unix.Close(o.fd) }

// nameMax is the length of the names that are observed without memory of their own: a list observes two for each session.
const nameMax = 127

// State returns the state of a file.
func (o Observer) State(name string) (State, error) {
	var text [nameMax + 1]byte // ends with a zero
	if copy(text[:nameMax], name) < len(name) || strings.IndexByte(name, 0) >= 0 {
		return o.stateOf(name)
	}
	var st unix.Statx_t
	switch _, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(o.fd), uintptr(unsafe.Pointer(&text)),
		unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(&st)), 0); errno {
	case 0:
		return State{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Inode: st.Ino, Size: int64(st.Size), ModifiedNs: nsOf(st.Mtime),
			InodeNs: nsOf(st.Ctime), Directory: st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
	case unix.ENOENT, unix.ENOTDIR:
		return State{}, nil
	}
	return o.stateOf(name) // the kernel or a filter of system calls has no statx, or the call is to be repeated
}

func nsOf(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }

// stateOf is State by the older system call.
func (o Observer) stateOf(name string) (State, error) {
	var st unix.Stat_t
	err := unix.Fstatat(o.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fstatat(o.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return State{Device: uint64(st.Dev), Inode: st.Ino, Size: st.Size, ModifiedNs: st.Mtim.Nano(),
		InodeNs: st.Ctim.Nano(), Directory: st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}
