package osfs

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// IsFull reports that the disk or the quota has no space left.
func IsFull(err error) bool { return isOneOf(err, fullErrors) }

// IsReadOnly reports that the filesystem or the permissions do not allow writing.
func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || isOneOf(err, []error{syscall.EROFS})
}

// IsNotDirectory reports a file in place of a directory.
func IsNotDirectory(err error) bool { return isOneOf(err, []error{syscall.ENOTDIR}) }

// isOneOf reports that err wraps one of the errors in among.
//
//go:noinline
func isOneOf(err error, among []error) bool {
	return slices.ContainsFunc(among, func(e error) bool { return errors.Is(err, e) })
}
