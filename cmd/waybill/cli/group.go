package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/synonym"
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
// unknown one, is a USAGE_ERROR; with the word help it prints its help, or that of the subcommand that follows. Its
// examples are the first ones of its subcommands.
func NewGroup(use, group, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, GroupID: group, Short: short, Long: long, Args: Subcommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return MissingSubcommand(cmd)
			}
			return HelpOf(cmd, args[1:])
		}}
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

// HelpOf prints the help of a command, or of its subcommand that the words name. USAGE_ERROR for other words.
func HelpOf(cmd *cobra.Command, words []string) error {
	// Find returns the deepest command and the words that it did not use.
	at, rest, err := cmd.Find(words)
	if err != nil || len(rest) > 0 {
		f := UsageFault(cmd, "unknown command %q", strings.Join(words, " "))
		if len(rest) > 0 && at.HasSubCommands() {
			return synonym.Suggest(f, at, rest[0], "help")
		}
		return f
	}
	// Cobra adds the flag --help only to a command that it executes.
	at.InitDefaultHelpFlag()
	return at.Help()
}

// RunsAlone is the annotation of a command with subcommands that is also called without one.
const RunsAlone = "waybill: runs alone"
