//go:build unix

package lock

import "syscall"

// openFlags keep a pipe or a link in the lock's place from stopping us.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
