package about

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// commonFlags is the line about the flags of every command in the help of a command. The help of the
// program lists them.
const commonFlags = "Flags of every command, such as --store and --json: 'waybill help flags'"

// SetHelp makes a program print the help of its commands as the functions below write it, in the width of
// its terminal.
func SetHelp(a *cli.App, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		// The whole help is written in one piece, so that a closed pipe leaves no partial line.
		cli.StartPager(a)
		_ = a.Write([]byte(helpOf(cmd, columns(a))))
	})
}

// columns returns the width of help: that of the terminal, or page.HelpColumns.
func columns(a *cli.App) int { return page.Columns(cmp.Or(a.WidthOf(a.Out), page.HelpColumns), 0) }

// helpOf returns the help of a command: its description and usage line, examples, subcommands, flags and the
// page of the guide. Parts that the command does not have are omitted. Only usage lines, examples and single
// words may be wider than width.
func helpOf(cmd *cobra.Command, width int) string {
	var b bytes.Buffer
	if text := strings.TrimSpace(cmd.Long); text != "" {
		b.WriteString(page.Reflow(text, width) + "\n\n")
	}
	fmt.Fprintf(&b, "Usage:\n%s\n", page.Wrap("  "+usageLine(cmd), width))
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	commandGroups(&b, cmd, width)
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", cli.FlagList(cmd.LocalFlags(), width))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, "\n%s\n", page.Wrap(commonFlags, width))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s\n", page.Wrap(fmt.Sprintf("Use '%s COMMAND --help' for more about a command.",
			cmd.CommandPath()), width))
	}
	if guide := GuidePage(cmd); guide != "" {
		fmt.Fprintf(&b, "\nGuide: %s\n", guide)
	}
	return b.String()
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
func commandGroups(b *bytes.Buffer, cmd *cobra.Command, width int) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	// Only the root command has groups.
	if len(cmd.Groups()) == 0 {
		b.WriteString("\nCommands:\n" + commandList(cmd, "", width))
	}
	for _, g := range cmd.Groups() {
		fmt.Fprintf(b, "\n%s\n%s", g.Title, commandList(cmd, g.ID, width))
	}
}

// commandList lists the subcommands of one group; group "" is for those without one.
func commandList(cmd *cobra.Command, group string, width int) string {
	var terms, texts []string
	for _, sub := range cmd.Commands() {
		// Cobra does not count the command help as available.
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			terms = append(terms, fmt.Sprintf("  %-*s", sub.NamePadding(), sub.Name()))
			texts = append(texts, sub.Short)
		}
	}
	return cli.TermList(terms, texts, "  ", width)
}
