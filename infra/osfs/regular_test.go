//go:build unix

package osfs

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOpenRegular: a file of another kind is refused by name and kind, and opening it does not
// wait for another process.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "s"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{pipe: "a pipe", link: "a pipe", socket: "a socket", dir: "a directory",
		"/dev/null": "a device"} {
		done := make(chan error, 1)
		go func() {
			_, err := OpenRegular(name)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: opening it blocks", name)
		}
	}
	f, err := OpenRegular(file)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if !IsTooManyFiles(&os.PathError{Op: "open", Path: file, Err: syscall.EMFILE}) || IsTooManyFiles(os.ErrNotExist) {
		t.Error("EMFILE is not distinguished")
	}
}
