package osfs

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// fullErrors report a full disk or an exceeded quota. The syscall numbers come from package os.
var fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
	syscall.ENOSPC, syscall.EDQUOT}
