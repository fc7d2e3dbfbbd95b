//go:build unix

package diagnose

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner tells whether a file belongs to whoever asks, and else to whom.
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

// umaskOf is what the system took from the bits that a file was to be made with.
func umaskOf(made fs.FileMode) (uint32, bool) { return uint32(0o666 &^ made.Perm()), true }
