package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/synonym"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
)

// asFault converts any error to a fault. Before Begin succeeds, an error that is not a fault
// comes from cobra parsing the command line and becomes USAGE_ERROR; later it is INTERNAL.
func (a *App) asFault(cmd *cobra.Command, err error) error {
	if f := fault.Of(err); a.running || f.Code != fault.Internal || f.Err != err {
		return f
	}
	return UsageFault(cmd, "%s", sentence(err))
}

// sentence returns the text of an error on one line.
func sentence(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// UsageFault returns a USAGE_ERROR (exit status 2) that suggests the help of the command. A
// call of Suggest on the result replaces the suggestion.
func UsageFault(cmd *cobra.Command, format string, args ...any) *fault.Fault {
	return fault.New(fault.UsageError, format, args...).Suggest("See %s.", commandOf(cmd, "--help"))
}

// commandOf returns the command line of cmd with more words.
func commandOf(cmd *cobra.Command, more ...string) fault.Command {
	return append(strings.Fields(cmd.CommandPath())[1:], more...)
}

// Subcommand checks the arguments of a command that only has subcommands. An argument that
// names none of them, and is not the word help, is a USAGE_ERROR, which says what the word means or suggests the
// nearest name.
func Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "help" && cmd.HasParent() { // the root has a command of that name
		return nil
	}
	return synonym.Suggest(UsageFault(cmd, "'%s' has no command %q", cmd.CommandPath(), args[0]), cmd, args[0])
}

// MissingSubcommand returns the USAGE_ERROR of a command group that is called without a
// subcommand. Printing the help with exit status 0 instead would let a script with a missing
// word continue.
func MissingSubcommand(cmd *cobra.Command) error {
	return UsageFault(cmd, "'%s' needs one of its commands: %s", cmd.CommandPath(),
		strings.Join(Subcommands(cmd), ", "))
}

// Subcommands returns the names of a command's available subcommands, in the order of its
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

// Exactly requires one argument per name. The names appear in error messages.
//
//go:noinline
func Exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// AtMost allows up to one argument per name.
func AtMost(names ...string) cobra.PositionalArgs { return between(0, names...) }

// AtLeast requires the first names and allows the others.
func AtLeast(least int, names ...string) cobra.PositionalArgs { return between(least, names...) }

// None allows no arguments.
func None() cobra.PositionalArgs { return between(0) }

// between requires at least `least` arguments and allows at most len(names). Any other count
// is a USAGE_ERROR that names the missing or the first superfluous argument.
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

// RunArg returns the run that an optional argument names, and @last, the latest run, without
// arguments.
func RunArg(args []string) string {
	if len(args) == 0 {
		return "@last"
	}
	return args[0]
}

// negative matches a negative number. No command has a flag of that form.
var negative = pattern.New(`^-[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?$`)

// numbersLast returns a command line in which a negative number is an argument, as in "config set KEY -4", and not
// read as a flag: from the first such number on, the flags come before the arguments, and "--" in between.
func numbersLast(root *cobra.Command, line []string) []string {
	cmd, _, err := root.Find(line)
	if err != nil || cmd.DisableFlagParsing {
		return line
	}
	first := len(line)
	var flags, arguments []string
	for i := 0; i < len(line); i++ {
		switch word := line[i]; {
		case word == "--":
			arguments = append(arguments, line[i+1:]...)
			i = len(line)
		case negative.MatchString(word):
			first = min(first, i)
			arguments = append(arguments, word)
		case !strings.HasPrefix(word, "-") || word == "-":
			if i > first {
				arguments = append(arguments, word)
			}
		default:
			from := i
			if takesNext(cmd, word) && i+1 < len(line) {
				i++
			}
			if from > first {
				flags = append(flags, line[from:i+1]...)
			}
		}
	}
	if first == len(line) {
		return line
	}
	return append(append(append(slices.Clone(line[:first]), flags...), "--"), arguments...)
}

// takesNext reports whether a flag has its value in the next word.
func takesNext(cmd *cobra.Command, word string) bool {
	name, isLong := strings.CutPrefix(word, "--")
	flag := cmd.Flag(name)
	if !isLong && len(word) == 2 {
		if flag = cmd.Flags().ShorthandLookup(word[1:]); flag == nil {
			flag = cmd.InheritedFlags().ShorthandLookup(word[1:])
		}
	}
	return flag != nil && flag.NoOptDefVal == ""
}
