package osfs

import "io/fs"

// kindOf maps the type bits of a mode. Devices, sockets and pipes are Other.
func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return Regular
	case m.IsDir():
		return Directory
	case m&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}
