package cli

import (
	"github.com/spf13/cobra"
)

// The groups that help shows commands in.
const (
	GroupWork  = "work"
	GroupLook  = "look"
	GroupStore = "store"
	GroupSetup = "setup"
)

// NewGroup is a command that only has subcommands.
func NewGroup(use, group, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, GroupID: group, Short: short, Long: long, Args: Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return MissingSubcommand(cmd) }}
	cmd.AddCommand(subs...)
	return cmd
}
