package osfs

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

func openBeneath(root int, name string, flags int, perm uint32) (int, error) {
	return walkBeneath(root, name, flags, perm)
}

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

func renameNoReplace(fromDir int, from string, toDir int, to string) error {
	err := unix.RenameatxNp(fromDir, from, toDir, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return linkNoReplace(fromDir, from, toDir, to)
	}
	return err
}

// syncFD: fsync leaves data in the drive's cache here; a barrier orders it, and
// only a full sync keeps it. Filesystems that know neither get what they have.
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

func syncDirFD(fd int, kind Sync) error { return syncFD(fd, kind) }

func unsupported(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTTY)
}

var networkTypes = []string{"nfs", "smbfs", "afpfs", "webdav", "ftp", "macfuse", "osxfuse", "fusefs"}

func (d *Dir) volumeOf(dir string) (Volume, error) {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return Volume{}, err
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	return Volume{Type: name, Network: slices.Contains(networkTypes, name)}, nil
}

// Boot names this run of the kernel: what was written since and not synced is
// still what everybody reads. "" when it cannot be told.
func Boot() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
}
