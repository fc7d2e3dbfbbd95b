//go:build unix

package lock

import "syscall"

// openFlags prevent that a pipe in place of the lock file blocks, or a link is followed.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
