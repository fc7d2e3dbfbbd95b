package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// asFault gives cobra's own complaints our shape: until a command runs, whatever is
// no fault comes from reading the command line.
func (a *app) asFault(cmd *cobra.Command, err error) error {
	if f := fault.Of(err); a.running || f.Code != fault.Internal || f.Err != err {
		return f
	}
	return usageFault(cmd, "%s", sentence(err))
}

func sentence(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// usageFault is USAGE_ERROR that points at the command's own help.
func usageFault(cmd *cobra.Command, format string, args ...any) *fault.Fault {
	return fault.New(fault.UsageError, format, args...).Suggest("See '%s --help'.", cmd.CommandPath())
}

// subcommand refuses words that name no command of a group.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := usageFault(cmd, "'%s' has no command %q", cmd.CommandPath(), args[0])
	if near := nearest.Of(args[0], subcommands(cmd)); near != "" {
		f.Suggest("Did you mean '%s %s'? '%s --help' shows all.", cmd.CommandPath(), near, cmd.CommandPath())
	}
	return f
}

// missingSubcommand is an error, not a page of help: a script that forgot a word must
// not go on as if something had been done.
func missingSubcommand(cmd *cobra.Command) error {
	return usageFault(cmd, "'%s' needs one of its commands: %s", cmd.CommandPath(),
		strings.Join(subcommands(cmd), ", "))
}

// subcommands lists what may stand behind a group, as help shows it.
func subcommands(cmd *cobra.Command) []string {
	var out []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, sub.Name())
		}
	}
	return out
}

// exactly wants one argument for each name.
func exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// atMost wants the named arguments or fewer.
func atMost(names ...string) cobra.PositionalArgs { return between(0, names...) }

// none wants no argument.
func none() cobra.PositionalArgs { return between(0) }

func between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageFault(cmd, "'%s' needs %s", cmd.CommandPath(), strings.Join(names[len(args):], " and "))
		case len(args) > len(names):
			return usageFault(cmd, "'%s' does not take the argument %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}
