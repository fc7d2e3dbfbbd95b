//go:build linux || darwin

package osfs

import "golang.org/x/sys/unix"

var fullErrors = []error{unix.ENOSPC, unix.EDQUOT}
