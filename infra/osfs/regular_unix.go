//go:build unix

package osfs

import "syscall"

// NonBlocking opens a pipe without waiting for a writer.
const NonBlocking = syscall.O_NONBLOCK
