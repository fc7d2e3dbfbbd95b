package terminal

import "syscall"

// The ioctl numbers of a terminal's mode.
const (
	getMode = syscall.TIOCGETA
	putMode = syscall.TIOCSETA
)
