package main

import (
	"os"
	"strings"
)

// hostIDs is the content of uid_map outside of a user namespace: every id is itself.
const hostIDs = "0 0 4294967295"

// uid returns the numeric id of the account that the process runs as, -1 if it is not known. In a
// user namespace a process without privileges chooses its id, so the id names no account there
// (docs/design.md#proposals).
func uid() int {
	ids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(ids)), " ") != hostIDs {
		return -1
	}
	return os.Getuid()
}
