//go:build linux || darwin

package osfs

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// identity identifies a file on this machine. The system may reuse an inode number after the file
// is removed, but not while the file is open or locked.
type identity struct{ dev, ino uint64 }

// Stat implements FS.
func (d *Dir) Stat(name string) (Info, error) {
	root, err := d.root()
	if err != nil {
		return Info{}, fail("stat", name, err)
	}
	if name == "." {
		var st unix.Stat_t
		err = unix.Fstat(root, &st)
		return infoOf(&st), fail("stat", name, err)
	}
	info, err := statBeneath(root, name)
	return info, fail("stat", name, err)
}

// infoOf converts the result of a stat call.
func infoOf(st *unix.Stat_t) Info {
	info := Info{Kind: Other, Perm: fs.FileMode(st.Mode & 0o777), Size: st.Size, ID: identity{uint64(st.Dev), st.Ino}}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		info.Kind = Regular
	case unix.S_IFDIR:
		info.Kind = Directory
	case unix.S_IFLNK:
		info.Kind = Symlink
	}
	return info
}

// InfoOf is the Info of a file that another package opened.
func InfoOf(fi os.FileInfo) Info {
	info := Info{Kind: kindOf(fi.Mode().Type()), Perm: fi.Mode().Perm(), Size: fi.Size()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		info.ID = identity{uint64(st.Dev), st.Ino}
	}
	return info
}

// SameFile reports that a and b describe one file.
func SameFile(a, b Info) bool { return a.ID != nil && a.ID == b.ID }
