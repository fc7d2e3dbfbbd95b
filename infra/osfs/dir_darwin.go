package osfs

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// openBeneath opens name below root without following links.
func openBeneath(root int, name string, flags int, perm uint32) (int, error) {
	return walkBeneath(root, name, flags, perm)
}

// statBeneath describes the name below root itself.
func statBeneath(root int, name string) (Info, error) {
	a, err := parentOf(root, name)
	if err != nil {
		return Info{}, err
	}
	defer a.close()
	var st unix.Stat_t
	err = unix.Fstatat(a.dir, a.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	return infoOf(&st), err
}

// renameNoReplace renames unless the target exists; it falls back where the filesystem lacks the
// flag.
func renameNoReplace(fromDir int, from string, toDir int, to string) error {
	err := unix.RenameatxNp(fromDir, from, toDir, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return linkNoReplace(fromDir, from, toDir, to)
	}
	return err
}

// syncFD syncs a file. On darwin fsync leaves data in the cache of the drive; a barrier orders it,
// and only a full sync makes it durable. Filesystems without either get fsync.
func syncFD(fd int, kind Sync) error {
	if kind == Order {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_BARRIERFSYNC, 0); !unsupported(err) {
			return err
		}
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); !unsupported(err) {
		return err
	}
	return unix.Fsync(fd)
}

// syncDirFD syncs a directory, in the same way as a file.
func syncDirFD(fd int, kind Sync) error { return syncFD(fd, kind) }

// unsupported reports that the filesystem does not implement the call.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTTY)
}

// networkTypes are the names of network filesystems, and of FUSE, which may reach other machines.
var networkTypes = []string{"nfs", "smbfs", "afpfs", "webdav", "ftp", "macfuse", "osxfuse", "fusefs"}

// volumeOf describes the filesystem of an existing directory.
func (d *Dir) volumeOf(dir string) (Volume, error) {
	st, err := statfs(dir)
	if err != nil {
		return Volume{}, err
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	return Volume{Type: name, Network: slices.Contains(networkTypes, name)}, nil
}

// Boot identifies the current boot of the kernel: within one boot, every process reads what was
// written last, synced or not. It is "" when it is unknown.
func Boot() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
}
