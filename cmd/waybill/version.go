package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is the document "version".
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitzero"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupSetup,
		Short:   "Print which version this is",
		Long:    "Print the version of this binary, what it was built with and for which platform.",
		Example: "  waybill version\n  waybill version --json",
		Args:    none(),
		RunE: func(*cobra.Command, []string) error {
			b := build{Version: a.version, Commit: commit(), Go: runtime.Version(), OS: runtime.GOOS,
				Arch: runtime.GOARCH}
			return a.answer("version", b, func(p *page) {
				p.line("waybill %s (%s, %s/%s)", b.Version, b.Go, b.OS, b.Arch)
			})
		},
	}
}

// commit is what the Go tool noted about the source, "" where it was built from
// elsewhere.
func commit() string {
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
