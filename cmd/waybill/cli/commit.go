package cli

import (
	"runtime/debug"
)

// Commit is the revision that the Go tool noted in the binary, "" where it was
// not built from a repository.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
