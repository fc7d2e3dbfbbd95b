package about

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// topicFlags is the topic of help about the flags of every command. No command has this name.
const topicFlags = "flags"

// NewHelp returns the command "help". Unlike the one of cobra, it returns a USAGE_ERROR for an
// unknown command, which suggests the nearest name.
func NewHelp(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND|flags]",
		GroupID: cli.GroupSetup,
		Short:   "Help about any command",
		Long: "Print the description, usage, examples and flags of a command.\n" +
			"'waybill COMMAND --help' prints the same. 'waybill help flags' lists the flags that every command has.",
		DisableFlagsInUseLine: true,
		Example:               "  waybill help\n  waybill help runs list\n  waybill help flags",
		ValidArgsFunction:     completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == topicFlags {
				cli.StartPager(a)
				return a.Write([]byte("Flags of every command:\n" + cli.FlagList(cmd.Root().PersistentFlags(), columns(a))))
			}
			return cli.HelpOf(cmd.Root(), args)
		},
	}
}

// completeHelp completes the words of a command, and topics.
func completeHelp(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	at, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, sub := range at.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	if !at.HasParent() {
		out = append(out, cobra.CompletionWithDesc(topicFlags, "The flags of every command"))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
