package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// asFault gives cobra's own complaints our shape: until a command runs, whatever is
// no fault comes from reading the command line.
func (a *App) asFault(cmd *cobra.Command, err error) error {
	if f := fault.Of(err); a.running || f.Code != fault.Internal || f.Err != err {
		return f
	}
	return UsageFault(cmd, "%s", sentence(err))
}

func sentence(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// UsageFault is USAGE_ERROR that points at the command's own help.
func UsageFault(cmd *cobra.Command, format string, args ...any) *fault.Fault {
	return fault.New(fault.UsageError, format, args...).Suggest("See '%s --help'.", cmd.CommandPath())
}

// Subcommand refuses words that name no command of a group.
func Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := UsageFault(cmd, "'%s' has no command %q", cmd.CommandPath(), args[0])
	if near := nearest.Of(args[0], Subcommands(cmd)); near != "" {
		f.Suggest("Did you mean '%s %s'? '%s --help' shows all.", cmd.CommandPath(), near, cmd.CommandPath())
	}
	return f
}

// MissingSubcommand is an error, not a page of help: a script that forgot a word must
// not go on as if something had been done.
func MissingSubcommand(cmd *cobra.Command) error {
	return UsageFault(cmd, "'%s' needs one of its commands: %s", cmd.CommandPath(),
		strings.Join(Subcommands(cmd), ", "))
}

// Subcommands lists what may stand behind a group, as help shows it.
func Subcommands(cmd *cobra.Command) []string {
	var out []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, sub.Name())
		}
	}
	return out
}

// Exactly wants one argument for each name.
func Exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// AtMost wants the named arguments or fewer.
func AtMost(names ...string) cobra.PositionalArgs { return between(0, names...) }

// None wants no argument.
func None() cobra.PositionalArgs { return between(0) }

func between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return UsageFault(cmd, "'%s' needs %s", cmd.CommandPath(), strings.Join(names[len(args):], " and "))
		case len(args) > len(names):
			return UsageFault(cmd, "'%s' does not take the argument %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// RunArg is the run that an optional argument names.
func RunArg(args []string) string {
	if len(args) == 0 {
		return "@last"
	}
	return args[0]
}
