package sessiontimes

import (
	"errors"
	"syscall"
)

// looker observes files below the directory of the sessions.
type looker struct{ dir string }

// stat returns the state of a file of a session, the zero state for a missing one. Links are not followed.
func (l looker) stat(session, name string) (fileState, error) {
	var st syscall.Stat_t
	err := syscall.Lstat(l.dir+"/"+session+"/"+name, &st)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Lstat(l.dir+"/"+session+"/"+name, &st)
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	return fileState{device: st.Dev, inode: st.Ino, size: st.Size, modifiedNs: st.Mtim.Nano(), inodeNs: st.Ctim.Nano()}, nil
}
