package osfs

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// IsFull reports that the disk or the quota has no room left.
func IsFull(err error) bool { return isOneOf(err, fullErrors) }

// IsReadOnly reports that the filesystem or the file's owner allows no writing.
func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || isOneOf(err, []error{syscall.EROFS})
}

// IsNotDirectory reports a file where a directory was meant.
func IsNotDirectory(err error) bool { return isOneOf(err, []error{syscall.ENOTDIR}) }

func isOneOf(err error, among []error) bool {
	return slices.ContainsFunc(among, func(e error) bool { return errors.Is(err, e) })
}
