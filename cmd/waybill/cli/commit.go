package cli

import (
	"runtime/debug"
)

// Commit is what the Go tool noted about the source, "" where it was built from
// elsewhere.
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
