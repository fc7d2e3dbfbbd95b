package cli

import (
	"strings"

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
// unknown one, is a USAGE_ERROR. Its examples are the first ones of its subcommands.
func NewGroup(use, group, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, GroupID: group, Short: short, Long: long, Args: Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return MissingSubcommand(cmd) }}
	cmd.AddCommand(subs...)
	cmd.Example = examplesOf(subs)
	return cmd
}

// groupExamples is the number of examples of a group of commands.
const groupExamples = 3

// examplesOf returns the first examples of commands: one of each, and more if there are few commands.
func examplesOf(commands []*cobra.Command) string {
	var out []string
	for row := 0; row < groupExamples; row++ {
		for _, cmd := range commands {
			if all := strings.Split(cmd.Example, "\n"); row < len(all) && len(out) < groupExamples {
				out = append(out, all[row])
			}
		}
	}
	return strings.Join(out, "\n")
}

// RunsAlone is the annotation of a command with subcommands that is also called without one.
const RunsAlone = "waybill: runs alone"
