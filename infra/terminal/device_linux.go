package terminal

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// The ioctl numbers of asm-generic/ioctls.h. They are the same on every processor that Go supports
// except MIPS and PowerPC, where the calls fail without an effect.
const (
	flushInput   = 0x540B     // TCFLSH
	inputQueue   = 0          // TCIFLUSH
	bytesWaiting = 0x541B     // FIONREAD
	deviceNumber = 0x80045432 // TIOCGDEV
)

// sameDevice reports whether two terminals are one device; /dev/tty is the terminal of the process.
// Where the system does not number its terminals, all are taken for one.
func sameDevice(a, b *os.File) bool {
	first, ok1 := device(a)
	second, ok2 := device(b)
	return first == second || !ok1 || !ok2
}

// device returns the number of a terminal.
func device(f *os.File) (number uint32, ok bool) {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), deviceNumber, uintptr(unsafe.Pointer(&number)))
	return number, errno == 0
}

// discardInput empties the input queue of the terminal.
func discardInput(f *os.File) {
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), flushInput, inputQueue)
}

// inputFollows reports whether more input arrives within a time: another line in line mode, else a key.
func inputFollows(f *os.File, within time.Duration) bool {
	const step = 5 * time.Millisecond
	for ; ; within -= step {
		var n int32
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), bytesWaiting, uintptr(unsafe.Pointer(&n)))
		if errno != 0 || n > 0 || within <= 0 {
			return errno == 0 && n > 0
		}
		time.Sleep(step)
	}
}
