package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// asFault gives the errors of cobra the form of our own. Until a command runs,
// an error that is no fault comes from reading the command line; after that it
// is a bug.
func (a *App) asFault(cmd *cobra.Command, err error) error {
	if f := fault.Of(err); a.running || f.Code != fault.Internal || f.Err != err {
		return f
	}
	return UsageFault(cmd, "%s", sentence(err))
}

// sentence makes one line of an error's text.
func sentence(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// UsageFault is a USAGE_ERROR, exit status 2, that points at the help of the
// command.
func UsageFault(cmd *cobra.Command, format string, args ...any) *fault.Fault {
	return fault.New(fault.UsageError, format, args...).Suggest("See '%s --help'.", cmd.CommandPath())
}

// Subcommand checks the arguments of a command that only has subcommands: a
// word that names none of them is an error, with the nearest name as a
// suggestion.
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

// MissingSubcommand is the error of a group that is called without a
// subcommand. It is no page of help: a script that forgot a word must not
// continue as if the call had succeeded.
func MissingSubcommand(cmd *cobra.Command) error {
	return UsageFault(cmd, "'%s' needs one of its commands: %s", cmd.CommandPath(),
		strings.Join(Subcommands(cmd), ", "))
}

// Subcommands lists the names of a command's subcommands in the order of its
// help.
func Subcommands(cmd *cobra.Command) []string {
	var out []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, sub.Name())
		}
	}
	return out
}

// Exactly wants one argument for each name; the names are used in errors.
func Exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// AtMost wants the named arguments or fewer.
func AtMost(names ...string) cobra.PositionalArgs { return between(0, names...) }

// None wants no argument.
func None() cobra.PositionalArgs { return between(0) }

// between wants at least so many of the named arguments, and no more than there
// are names.
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

// RunArg is the run that an optional argument names; without an argument it is
// the latest run.
func RunArg(args []string) string {
	if len(args) == 0 {
		return "@last"
	}
	return args[0]
}
