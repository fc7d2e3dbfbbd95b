package osfs

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestPopulate: the pages of a long buffer are present after one call, and its bytes are as before.
func TestPopulate(t *testing.T) {
	const pages = 1024
	size := os.Getpagesize()
	b, err := unix.Mmap(-1, 0, pages*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(b) }()
	if unix.Madvise(b[:size], unix.MADV_POPULATE_WRITE) != nil {
		t.Skip("this kernel does not populate memory")
	}
	b[0] = 7
	present := func() (n int) {
		state := make([]byte, pages)
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&state[0]))); errno != 0 {
			t.Skip("this kernel does not report which pages are present: ", errno)
		}
		for _, s := range state {
			n += int(s & 1)
		}
		return n
	}
	before := present()
	Populate(b[:populatedBytes-1])
	if n := present(); n != before {
		t.Errorf("a short buffer: %d pages, %d before", n, before)
	}
	Populate(b)
	if n := present(); before == pages || n != pages || b[0] != 7 || b[len(b)-1] != 0 {
		t.Errorf("%d pages are present, %d before, of %d", n, before, pages)
	}
	Populate(nil)
}
