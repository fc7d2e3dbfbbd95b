package osfs

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OpenRegular opens a file for reading that a user named. Anything but a regular file, links
// resolved, is an error that says what it is: a pipe would block until another program writes,
// and a device may have no end. Opening does not wait for either.
func OpenRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
			return nil, notRegular(info.Mode()) // such as a socket, which cannot be opened
		}
		return nil, err
	}
	// The open file is examined: a name may mean another one by now.
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(info.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// notRegular is the error for a file of another kind.
func notRegular(m fs.FileMode) error {
	return fmt.Errorf("it is %s, not a regular file", KindName(m))
}

// KindName names the kind of a file that is not regular, with its article.
func KindName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// IsTooManyFiles reports that the process or the machine has no file descriptor left: nothing is
// known about the file, and another attempt may succeed.
func IsTooManyFiles(err error) bool { return isOneOf(err, []error{syscall.EMFILE, syscall.ENFILE}) }
