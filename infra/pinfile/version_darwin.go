package pinfile

import (
	"fmt"
	"os"
	"syscall"
)

// versionOf identifies a file and its last change: of the content, the name, the mode or the links. The
// user cannot set the time of it (ctime).
func versionOf(fi os.FileInfo) string {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mtimespec.Sec, st.Mtimespec.Nsec, st.Ctimespec.Sec, st.Ctimespec.Nsec)
}
