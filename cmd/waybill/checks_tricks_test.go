//go:build linux

package main

import (
	"path/filepath"
	"syscall"
)

// pipe makes a named pipe.
func (c *checked) pipe(name string) {
	c.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(c.dir, name), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// moreTricks are those about the caller, records, trust, values and processes.
func moreTricks() []trick { return nil }
