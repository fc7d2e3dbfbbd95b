// Package clientfile reads and replaces the settings file of another program, as its user would. It does not know what
// the file contains. Start with Read.
package clientfile

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/waybill/waybill/infra/osfs"
)

// The refusals.
var (
	// ErrLink: the file is a symbolic link.
	ErrLink = errors.New("it is a symbolic link, and is not changed")
	// ErrKind: the file is no regular file.
	ErrKind = errors.New("it is not a regular file, and is not changed")
	// ErrReadOnly: its owner may not write the file.
	ErrReadOnly = errors.New("it is read-only, and is not changed")
	// ErrChanged: another program has changed the file since it was read.
	ErrChanged = errors.New("it was changed by another program meanwhile, and is not changed here")
)

// Read returns the bytes of a file, at most a number of them and one more; nil for a file that does not exist. The
// errors are ErrLink, ErrKind and those of the system.
func Read(name string, most int64) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, ErrLink
	case !info.Mode().IsRegular():
		return nil, ErrKind
	}
	file, err := osfs.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// Replace writes a file beside the other one and moves it to its name, with the permissions of the file before; a new
// file is private, and so are directories that it needs. nil: other programs see the old or the new bytes, complete.
// before is what Read returned: if the file has other bytes now, the error is ErrChanged and nothing is written. A file
// that its owner may not write is ErrReadOnly.
func Replace(name string, before, after []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".waybill-"+hex.EncodeToString(random[:]))
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // an error after the rename: the name does not exist
	_, err = file.Write(after)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := Check(name, before); err != nil {
		return err
	}
	if before != nil {
		info, err := os.Lstat(name)
		if err == nil {
			err = os.Chmod(temp, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return os.Rename(temp, name)
}

// Remove removes a file. before and the errors are those of Replace.
func Remove(name string, before []byte) error {
	if err := Check(name, before); err != nil {
		return err
	}
	return os.Remove(name)
}

// Exists reports whether a name is that of a file, also of one that Read refuses.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// Check returns the error that Replace would have for what Read returned, nil for a file that may be changed.
func Check(name string, before []byte) error {
	now, err := Read(name, int64(len(before)))
	if err != nil {
		return err
	}
	if (now == nil) != (before == nil) || !bytes.Equal(now, before) {
		return ErrChanged
	}
	if before == nil {
		return nil
	}
	info, err := os.Lstat(name)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = ErrReadOnly
	}
	return err
}
