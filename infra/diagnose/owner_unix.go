//go:build unix

package diagnose

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner reports whether a file belongs to the current user, and else the name of its owner.
func owner(info fs.FileInfo) (mine bool, name string) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Geteuid() {
		return true, ""
	}
	name = strconv.Itoa(int(st.Uid))
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return false, name
}

// umaskOf returns the bits that the system removed from the mode 0666 of a new file.
func umaskOf(made fs.FileMode) (uint32, bool) { return uint32(0o666 &^ made.Perm()), true }
