package about

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Help is written by functions instead of cobra's templates: text/template makes
// the linker keep every method of every type, which made the binary a third larger
// and every start of it slower.

// WriteHelp prints the help of a command: what it is for, and below it how it
// is used. It has the signature that cobra wants.
func WriteHelp(cmd *cobra.Command, _ []string) {
	var b bytes.Buffer
	if text := strings.TrimSpace(cmd.Long); text != "" {
		b.WriteString(text + "\n\n")
	}
	writeCommandUsage(&b, cmd)
	_, _ = cmd.OutOrStdout().Write(b.Bytes())
}

// WriteUsage prints how a command is used, without what it is for.
func WriteUsage(cmd *cobra.Command) error {
	var b bytes.Buffer
	writeCommandUsage(&b, cmd)
	_, err := cmd.OutOrStderr().Write(b.Bytes())
	return err
}

// writeCommandUsage writes the usage line, examples, subcommands and flags,
// each part only where the command has it.
func writeCommandUsage(b *bytes.Buffer, cmd *cobra.Command) {
	fmt.Fprintf(b, "Usage:\n  %s\n", usageLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
	}
	commandGroups(b, cmd)
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsages())
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(b, "\nFlags of every command:\n%s", cmd.InheritedFlags().FlagUsages())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "\n'%s COMMAND --help' tells more about one of them.\n", cmd.CommandPath())
	}
}

// usageLine is what is typed. A command that only has subcommands cannot be
// called by itself.
func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// commandGroups lists subcommands below the titles of their groups, or in one
// list where there are no groups.
func commandGroups(b *bytes.Buffer, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	// Only the program itself has groups.
	if len(cmd.Groups()) == 0 {
		b.WriteString("\nCommands:\n")
		commandList(b, cmd, "")
	}
	for _, g := range cmd.Groups() {
		fmt.Fprintf(b, "\n%s\n", g.Title)
		commandList(b, cmd, g.ID)
	}
}

// commandList lists the subcommands of one group, "" for those of none.
func commandList(b *bytes.Buffer, cmd *cobra.Command, group string) {
	for _, sub := range cmd.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			fmt.Fprintf(b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
}
