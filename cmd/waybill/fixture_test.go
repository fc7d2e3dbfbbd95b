package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// fixture is a directory, with stores in it, that many tests begin with. It is made for the first of them. Each test
// gets a copy in a directory of its own, so that none sees what another one does.
type fixture[T any] struct {
	mu   sync.Mutex
	root string
	made T
}

// fixtures is the directory of the fixtures of this process.
var fixtures string

// copied returns a copy of the directory, and what make returned about it. A file that has the path of the directory
// fails the test: a copy would not be what make makes in its place.
func (f *fixture[T]) copied(t *testing.T, make func(dir string) T) (string, T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.root == "" {
		root, err := os.MkdirTemp(fixtures, "")
		if err != nil {
			t.Fatal(err)
		}
		f.made = make(root)
		f.root = root
	}
	to := t.TempDir()
	if err := filepath.WalkDir(f.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(f.root, name)
		if err != nil {
			return err
		}
		return copyEntry(t, name, filepath.Join(to, rel), f.root)
	}); err != nil {
		t.Fatal(err)
	}
	return to, f.made
}

// copyEntry copies a file with its mode, or makes a directory with that of another.
func copyEntry(t *testing.T, from, to, root string) error {
	t.Helper()
	info, err := os.Lstat(from)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		return os.Chmod(to, info.Mode().Perm())
	case !info.Mode().IsRegular():
		t.Fatalf("a fixture has %s, which is not a file", from)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if bytes.Contains(data, []byte(root)) {
		t.Fatalf("%s names the directory of the fixture", from)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm())
}
