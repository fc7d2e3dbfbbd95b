package sessiontimes

import (
	"errors"

	"golang.org/x/sys/unix"
)

// looker observes files below the directory of the sessions, by a descriptor of it: the kernel does not walk to the
// store for each.
type looker struct{ fd int }

func openLooker(dir string) (looker, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return looker{fd}, err
}

func (l looker) close() { _ = unix.Close(l.fd) }

// stat returns the state of a file of a session, the zero state for a missing one. Links are not followed.
func (l looker) stat(session, name string) (fileState, error) {
	var st unix.Stat_t
	err := unix.Fstatat(l.fd, session+"/"+name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	return fileState{device: st.Dev, inode: st.Ino, size: st.Size, modifiedNs: st.Mtim.Nano(), inodeNs: st.Ctim.Nano()}, nil
}
