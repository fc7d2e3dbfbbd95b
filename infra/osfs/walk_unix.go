//go:build linux || darwin

package osfs

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// walkBeneath opens name one component at a time without following links. It is the only
// implementation on darwin, and the fallback on Linux without openat2.
func walkBeneath(root int, name string, flags int, perm uint32) (int, error) {
	if !fs.ValidPath(name) {
		return -1, fs.ErrInvalid
	}
	dir := root
	for {
		first, rest, more := strings.Cut(name, "/")
		if !more {
			fd, err := openStep(dir, first, flags, perm)
			if dir != root {
				_ = unix.Close(dir)
			}
			return fd, err
		}
		next, err := openStep(dir, first, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if dir != root {
			_ = unix.Close(dir)
		}
		if err != nil {
			return -1, err
		}
		dir, name = next, rest
	}
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
