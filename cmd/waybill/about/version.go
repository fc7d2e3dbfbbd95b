// Package about implements the commands about the program itself: version, help, and
// completion scripts. They open no store and change nothing.
//
// Help is written by functions of this package instead of cobra's templates: text/template
// makes the linker keep every exported method of every type, which made the binary a third
// larger and each start slower.
package about

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// NewVersion returns the command "version". The version is set by the build, the commit by the
// Go tool. Without them they are "dev" and "".
func NewVersion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: cli.GroupSetup,
		Short:   "Print the version of this program",
		Long:    "Print the version of this binary, its Go version and its platform.",
		Example: "  waybill version\n  waybill version --json",
		Args:    cli.None(),
		RunE:    func(*cobra.Command, []string) error { return PrintVersion(a) },
	}
}

// PrintVersion prints the answer of the command "version", and of the flag --version of the program.
func PrintVersion(a *cli.App) error {
	// The commit is only in the document, since the text is for people.
	b := document.Build{Version: a.Version, Commit: document.Commit(), Go: runtime.Version(), OS: runtime.GOOS,
		Arch: runtime.GOARCH}
	return a.Answer("version", b, func(p *page.Page) {
		p.Line("waybill %s (%s, %s/%s)", b.Version, b.Go, b.OS, b.Arch)
	})
}
