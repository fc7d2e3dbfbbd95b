package osfs

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
	syscall.ENOSPC, syscall.EDQUOT}
