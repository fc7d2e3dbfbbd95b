package terminal

import (
	"os"
	"syscall"
	"unsafe"
)

// The ioctl numbers of asm-generic/ioctls.h. They are the same on every processor that Go supports
// except MIPS and PowerPC, where both calls fail without an effect.
const (
	flushInput   = 0x540B // TCFLSH
	inputQueue   = 0      // TCIFLUSH
	bytesWaiting = 0x541B // FIONREAD
)

// discardInput empties the input queue of the terminal.
func discardInput(f *os.File) {
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), flushInput, inputQueue)
}

// lineWaiting reports whether a complete line can be read without waiting.
func lineWaiting(f *os.File) bool {
	var n int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), bytesWaiting, uintptr(unsafe.Pointer(&n)))
	return errno == 0 && n > 0
}
