//go:build unix

package process

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to the user of this process.
func isOwn(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// lockFolder holds a folder until the handle is closed, also by the death of this process. It waits
// for a performer that creates its folder or looks at this one, which takes no time.
func lockFolder(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// isUnlocked reports that no living performer holds a folder.
func isUnlocked(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
