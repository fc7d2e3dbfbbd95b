package osfs

import "golang.org/x/sys/unix"

// populatedBytes is the length of the buffers whose memory is asked for in one call: for a shorter one it saves nothing.
const populatedBytes = 256 << 10

// Populate asks for the memory of a buffer that is about to be filled, which a long one otherwise gets page by page. It changes
// nothing that a program can see; a kernel before 5.14 does not do it.
func Populate(b []byte) {
	if len(b) >= populatedBytes {
		_ = unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	}
}
