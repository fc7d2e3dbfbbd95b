package about

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// NewHelp makes the command "help". Unlike cobra's own, it fails for a topic
// that does not exist, with the nearest command as a suggestion.
func NewHelp(_ *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		GroupID: cli.GroupSetup,
		Short:   "Tell about a command",
		Long: "Tell what a command is for, what it takes, and how it is used.\n" +
			"'waybill COMMAND --help' prints the same.",
		Example: "  waybill help\n  waybill help runs list",
		RunE: func(cmd *cobra.Command, args []string) error {
			// Find gives the deepest command and the words that it did not
			// use.
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				f := cli.UsageFault(cmd.Root(), "there is no command %q", strings.Join(args, " "))
				if near := nearest.Of(args[0], cli.Subcommands(cmd.Root())); near != "" && near != args[0] {
					f.Suggest("Did you mean '%s help %s'?", cmd.Root().Name(), near)
				}
				return f
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}
