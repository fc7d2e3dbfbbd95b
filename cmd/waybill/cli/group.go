package cli

import (
	"github.com/spf13/cobra"
)

// The groups of commands in the help of the program. Each first-level command has one as its
// GroupID. The titles are set with the root command.
const (
	GroupRun      = "work"
	GroupInspect  = "look"
	GroupMaintain = "store"
	GroupSetup    = "setup"
)

// NewGroup returns a command that only has subcommands. use is its name; group is one of the
// constants above, or "" below the first level. Calling it without a subcommand, or with an
// unknown one, is a USAGE_ERROR.
func NewGroup(use, group, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, GroupID: group, Short: short, Long: long, Args: Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return MissingSubcommand(cmd) }}
	cmd.AddCommand(subs...)
	return cmd
}

// RunsAlone is the annotation of a command with subcommands that is also called without one.
const RunsAlone = "waybill: runs alone"
