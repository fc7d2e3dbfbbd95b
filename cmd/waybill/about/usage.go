package about

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// WriteHelp prints the help of a command: its description and its usage. It has the signature
// of cobra.Command.SetHelpFunc.
func WriteHelp(cmd *cobra.Command, _ []string) {
	// The whole help is written in one piece, so that a closed pipe leaves no partial line.
	var b bytes.Buffer
	if text := strings.TrimSpace(cmd.Long); text != "" {
		b.WriteString(text + "\n\n")
	}
	writeCommandUsage(&b, cmd)
	_, _ = cmd.OutOrStdout().Write(b.Bytes())
}

// WriteUsage prints the usage of a command without its description.
func WriteUsage(cmd *cobra.Command) error {
	var b bytes.Buffer
	writeCommandUsage(&b, cmd)
	_, err := cmd.OutOrStderr().Write(b.Bytes())
	return err
}

// writeCommandUsage writes the usage line, examples, subcommands, flags and the page of the guide. Parts that the
// command does not have are omitted.
func writeCommandUsage(b *bytes.Buffer, cmd *cobra.Command) {
	fmt.Fprintf(b, "Usage:\n  %s\n", usageLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
	}
	commandGroups(b, cmd)
	// Common flags are listed separately, since every command has the same ones.
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsages())
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(b, "\nFlags of every command:\n%s", cmd.InheritedFlags().FlagUsages())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "\nUse '%s COMMAND --help' for more about a command.\n", cmd.CommandPath())
	}
	if page := GuidePage(cmd); page != "" {
		fmt.Fprintf(b, "\nGuide: %s\n", page)
	}
}

// usageLine returns the usage line of a command. A command with subcommands needs one of them.
func usageLine(cmd *cobra.Command) string {
	switch {
	case cmd.HasAvailableSubCommands() && cmd.Annotations[cli.RunsAlone] != "":
		return cmd.CommandPath() + " [COMMAND]"
	case cmd.HasAvailableSubCommands():
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// commandGroups lists the subcommands below the titles of their groups, or in one list if the
// command has no groups.
func commandGroups(b *bytes.Buffer, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	// Only the root command has groups.
	if len(cmd.Groups()) == 0 {
		b.WriteString("\nCommands:\n")
		commandList(b, cmd, "")
	}
	for _, g := range cmd.Groups() {
		fmt.Fprintf(b, "\n%s\n", g.Title)
		commandList(b, cmd, g.ID)
	}
}

// commandList lists the subcommands of one group; group "" is for those without one.
func commandList(b *bytes.Buffer, cmd *cobra.Command, group string) {
	// Cobra does not count the command help as available.
	for _, sub := range cmd.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			fmt.Fprintf(b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
}
