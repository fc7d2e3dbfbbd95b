package terminal

import (
	"os"
	"syscall"
	"unsafe"
)

// The numbers of asm-generic/ioctls.h, the same on every processor that Go runs on
// but MIPS and PowerPC, where both calls fail and nothing is lost.
const (
	flushInput   = 0x540B // TCFLSH
	inputQueue   = 0      // TCIFLUSH
	bytesWaiting = 0x541B // FIONREAD
)

// discard empties the terminal's input queue.
func discard(f *os.File) {
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), flushInput, inputQueue)
}

// waiting reports whether a whole line waits to be read.
func waiting(f *os.File) bool {
	var n int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), bytesWaiting, uintptr(unsafe.Pointer(&n)))
	return errno == 0 && n > 0
}
