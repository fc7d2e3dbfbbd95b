package terminal

import "syscall"

// The ioctl numbers of a terminal's mode.
const (
	getMode = syscall.TCGETS
	putMode = syscall.TCSETS
)
