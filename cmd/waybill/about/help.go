package about

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// NewHelp returns the command "help". Unlike the one of cobra, it returns a USAGE_ERROR for an
// unknown command, which suggests the nearest name.
func NewHelp(_ *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		GroupID: cli.GroupSetup,
		Short:   "Help about any command",
		Long: "Print the description, usage, examples and flags of a command.\n" +
			"'waybill COMMAND --help' prints the same.",
		Example: "  waybill help\n  waybill help runs list",
		RunE: func(cmd *cobra.Command, args []string) error {
			// Find returns the deepest command and the words that it did not use.
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				f := cli.UsageFault(cmd.Root(), "unknown command %q", strings.Join(args, " "))
				if near := nearest.Of(args[0], cli.Subcommands(cmd.Root())); near != "" && near != args[0] {
					f.Suggest("Did you mean %s?", fault.Command{"help", near})
				}
				return f
			}
			// Cobra adds the flag --help only to a command that it executes.
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}
