package osfs

// State is what the file system says of a file; the zero State of one that is missing. It changes with each change of
// the file, as far as the clock of the file system is fine enough.
type State struct {
	Device, Inode uint64
	Size          int64
	// ModifiedNs and InodeNs are times in nanoseconds since 1970. InodeNs, which a program cannot set, and the number
	// of the inode are 0 where the platform has none.
	ModifiedNs, InodeNs int64
	// Directory reports that it is a directory.
	Directory bool
}
