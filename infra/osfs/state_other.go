//go:build !linux

package osfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Observer reads the states of files below a directory. Without the number and the time of an inode, which only
// Linux is asked for, a file that is replaced by one with the same size and time is not noticed.
type Observer struct{ dir string }

// Observe returns the observer of a directory.
func Observe(dir string) (Observer, error) { return Observer{dir}, nil }

// Close closes the directory.
func (Observer) Close() {}

// State returns the state of a file. Links are not followed.
func (o Observer) State(name string) (State, error) {
	info, err := os.Lstat(filepath.Join(o.dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return State{Size: info.Size(), ModifiedNs: info.ModTime().UnixNano(), Directory: info.IsDir()}, nil
}
