// Package about holds the commands that tell about the program itself: its
// version, its help, and the scripts that complete its commands in a shell.
// They open no store and change nothing.
//
// Help is written by functions of this package, since the templates of cobra
// make the binary larger and each start slower.
package about

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// NewVersion makes the command "version". The version is stamped into the
// binary by the build; the commit is what the Go tool noted. A binary that was
// built without either says so by "dev" and an empty commit.
func NewVersion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: cli.GroupSetup,
		Short:   "Print which version this is",
		Long:    "Print the version of this binary, what it was built with and for which platform.",
		Example: "  waybill version\n  waybill version --json",
		Args:    cli.None(),
		RunE: func(*cobra.Command, []string) error {
			b := document.Build{Version: a.Version, Commit: cli.Commit(), Go: runtime.Version(), OS: runtime.GOOS,
				Arch: runtime.GOARCH}
			return a.Answer("version", b, func(p *page.Page) {
				p.Line("waybill %s (%s, %s/%s)", b.Version, b.Go, b.OS, b.Arch)
			})
		},
	}
}
