package document

import (
	"runtime/debug"
)

// Commit returns the VCS revision that the Go tool stored in the binary, "" if the binary was
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
