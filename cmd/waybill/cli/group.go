package cli

import (
	"github.com/spf13/cobra"
)

// The groups of commands in the help of the program; each command of the first
// level names one as its GroupID. The titles are set with the root command.
const (
	GroupWork  = "work"
	GroupLook  = "look"
	GroupStore = "store"
	GroupSetup = "setup"
)

// NewGroup makes a command that only has subcommands. use is its name, group
// one of the constants above, "" below the first level.
func NewGroup(use, group, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, GroupID: group, Short: short, Long: long, Args: Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return MissingSubcommand(cmd) }}
	cmd.AddCommand(subs...)
	return cmd
}
