//go:build !linux

package main

import "os"

// uid returns the numeric id of the account that the process runs as, -1 on systems without such
// ids.
func uid() int { return os.Getuid() }
