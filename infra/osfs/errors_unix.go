//go:build linux || darwin

package osfs

import "golang.org/x/sys/unix"

// fullErrors report a full disk or an exceeded quota.
var fullErrors = []error{unix.ENOSPC, unix.EDQUOT}
