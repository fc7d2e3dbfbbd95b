package osfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// noOpenat2 remembers a kernel or a sandbox without the call.
var noOpenat2 atomic.Bool

// openBeneath opens name in one system call, whatever its depth.
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
	case errors.Is(err, unix.EPERM): // what a sandbox says, and an immutable file as well
		return walkBeneath(root, name, flags, perm)
	case errors.Is(err, unix.ELOOP):
		return -1, ErrSymlink
	}
	return fd, err
}

// statBeneath takes one call for a name that is not there, which is the answer
// most often hoped for.
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

// renameNoReplace falls back where the filesystem does not know the flag.
func renameNoReplace(fromDir int, from string, toDir int, to string) error {
	err := unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return linkNoReplace(fromDir, from, toDir, to)
	}
	return err
}

// syncFD: the two kinds are one call here. fdatasync writes the size as well, and
// leaves out times that nobody reads.
func syncFD(fd int, _ Sync) error { return unix.Fdatasync(fd) }

func syncDirFD(fd int, _ Sync) error { return unix.Fsync(fd) }

// networkTypes are the filesystems whose locks may not reach other machines.
// FUSE is among them only by the name of what is mounted.
var networkTypes = map[int64]string{
	0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x5346414f: "afs",
	0x00c36400: "ceph", 0x01021997: "9p", 0x0bd00bd0: "lustre", 0x7461636f: "ocfs2", 0x01161970: "gfs2",
	0x564c: "ncp", 0x73757245: "coda", 0x19830326: "beegfs", 0x47504653: "gpfs",
}

const fuseType = 0x65735546

func (d *Dir) volumeOf(dir string) (Volume, error) {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(dir, &st) }); err != nil {
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

// remoteFuse are the mounts through FUSE that reach other machines.
var remoteFuse = []string{"sshfs", "rclone", "s3fs", "gcsfuse", "glusterfs", "davfs", "curlftpfs", "blobfuse",
	"juicefs", "mfs", "cephfs"}

// fuseVolume asks the mount table which program stands behind a FUSE mount. What
// cannot be told is taken for local: a wrong refusal would lock people out.
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
		for _, remote := range remoteFuse {
			if strings.Contains(kind, remote) {
				return Volume{Type: kind, Network: true}
			}
		}
		return Volume{Type: kind}
	}
	return Volume{Type: "fuse"}
}

// Boot names this run of the kernel: what was written since and not synced is
// still what everybody reads. "" when it cannot be told.
func Boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
