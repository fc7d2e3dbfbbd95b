package osfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// noOpenat2 records that the kernel or a sandbox lacks openat2.
var noOpenat2 atomic.Bool

// openBeneath opens name below root without following links, with one system call for any depth.
func openBeneath(root int, name string, flags int, perm uint32) (fd int, err error) {
	if !fs.ValidPath(name) {
		return -1, fs.ErrInvalid
	}
	if noOpenat2.Load() {
		return walkBeneath(root, name, flags, perm)
	}
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(perm)
	}
	err = retry(func() error {
		fd, err = unix.Openat2(root, name, &how)
		return err
	})
	switch {
	case errors.Is(err, unix.ENOSYS):
		noOpenat2.Store(true)
		return walkBeneath(root, name, flags, perm)
	case errors.Is(err, unix.EPERM): // reported by a sandbox, and for an immutable file
		return walkBeneath(root, name, flags, perm)
	case errors.Is(err, unix.ELOOP):
		return -1, ErrSymlink
	}
	return fd, err
}

// statBeneath describes the name below root itself. A missing name costs one call; it is the most
// frequent result.
func statBeneath(root int, name string) (Info, error) {
	fd, err := openBeneath(root, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return Info{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	return infoOf(&st), err
}

// renameNoReplace renames unless the target exists; it falls back where the filesystem lacks the
// flag.
func renameNoReplace(fromDir int, from string, toDir int, to string) error {
	err := unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return linkNoReplace(fromDir, from, toDir, to)
	}
	return err
}

// syncFD syncs a file: both kinds are one call on Linux. fdatasync includes the size and omits
// times, which no reader uses.
func syncFD(fd int, _ Sync) error { return unix.Fdatasync(fd) }

// syncDirFD syncs a directory, for both kinds with fsync.
func syncDirFD(fd int, _ Sync) error { return unix.Fsync(fd) }

// networkTypes are the magic numbers of filesystems whose locks may not reach other machines. FUSE
// mounts are identified by the name of their program instead.
var networkTypes = map[int64]string{
	0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x5346414f: "afs",
	0x00c36400: "ceph", 0x01021997: "9p", 0x0bd00bd0: "lustre", 0x7461636f: "ocfs2", 0x01161970: "gfs2",
	0x564c: "ncp", 0x73757245: "coda", 0x19830326: "beegfs", 0x47504653: "gpfs",
}

// fuseType is the magic number of FUSE.
const fuseType = 0x65735546

// volumeOf describes the filesystem of an existing directory.
func (d *Dir) volumeOf(dir string) (Volume, error) {
	st, err := statfs(dir)
	if err != nil {
		return Volume{}, err
	}
	magic := int64(st.Type) & 0xffffffff
	if name, ok := networkTypes[magic]; ok {
		return Volume{Type: name, Network: true}, nil
	}
	if magic == fuseType {
		return fuseVolume(dir), nil
	}
	return Volume{Type: fmt.Sprintf("%#x", magic)}, nil
}

// remoteFuse are the names of FUSE programs that reach other machines.
var remoteFuse = []string{"sshfs", "rclone", "s3fs", "gcsfuse", "glusterfs", "davfs", "curlftpfs", "blobfuse",
	"juicefs", "mfs", "cephfs"}

// fuseVolume reads the program of a FUSE mount from the mount table. An unknown one counts as
// local: a wrong refusal would make the store unusable.
func fuseVolume(dir string) Volume {
	var st unix.Stat_t
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Stat(dir, &st) != nil {
		return Volume{Type: "fuse"}
	}
	device := fmt.Sprintf(" %d:%d ", unix.Major(st.Dev), unix.Minor(st.Dev))
	for line := range strings.Lines(string(table)) {
		_, after, found := strings.Cut(line, " - ")
		if !found || !strings.Contains(line, device) {
			continue
		}
		kind, _, _ := strings.Cut(after, " ")
		isPartOfKind := func(program string) bool { return strings.Contains(kind, program) }
		return Volume{Type: kind, Network: slices.ContainsFunc(remoteFuse, isPartOfKind)}
	}
	return Volume{Type: "fuse"}
}

// Boot identifies the current boot of the kernel: within one boot, every process reads what was
// written last, synced or not. It is "" when it is unknown.
func Boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
