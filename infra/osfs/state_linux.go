package osfs

import (
	"errors"

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

// State returns the state of a file.
func (o Observer) State(name string) (State, error) {
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
