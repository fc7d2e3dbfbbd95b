//go:build linux || darwin

package osfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// walkBeneath opens name one component at a time without following links. It is the only
// implementation on darwin, and the fallback on Linux without openat2. os.Root walks in the same way
// but follows links that stay inside the root.
func walkBeneath(root int, name string, flags int, perm uint32) (int, error) {
	at, err := parentOf(root, name)
	if err != nil {
		return -1, err
	}
	defer at.close()
	return openStep(at.dir, at.base, flags, perm)
}

// openStep opens one component in the directory dir.
func openStep(dir int, name string, flags int, perm uint32) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		return err
	})
	if err == nil {
		return fd, nil
	}
	if errors.Is(err, unix.ELOOP) {
		return -1, ErrSymlink
	}
	// With O_DIRECTORY, Linux reports a link as "not a directory": check the kind of the entry.
	var st unix.Stat_t
	if errors.Is(err, unix.ENOTDIR) && unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return -1, ErrSymlink
	}
	return -1, err
}
