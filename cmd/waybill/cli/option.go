package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Option adds one flag of a command to a set of its flags; see Opt and OneOf.
type Option func(*cobra.Command, *pflag.FlagSet)

// WithOptions adds flags to a command and returns it.
func WithOptions(cmd *cobra.Command, options ...Option) *cobra.Command {
	addOptions(cmd, cmd.Flags(), options)
	return cmd
}

// addOptions adds flags to a set of a command's flags.
func addOptions(cmd *cobra.Command, f *pflag.FlagSet, options []Option) {
	for _, add := range options {
		add(cmd, f)
	}
}

// Opt is a flag that sets a variable, whose present value is the default. name is the long name,
// optionally with a comma and the short one; behind a space the help's name of the value, which
// all flags but switches have: "output,o FILE". A list may be given several times.
func Opt[T string | bool | int | int64 | float64 | time.Duration | []string](value *T, name, usage string) Option {
	name, valueName, _ := strings.Cut(name, " ")
	name, short, _ := strings.Cut(name, ",")
	return func(_ *cobra.Command, f *pflag.FlagSet) {
		defer nameValue(f, name, valueName)
		switch v := any(value).(type) {
		case *string:
			f.StringVarP(v, name, short, *v, usage)
		case *bool:
			f.BoolVarP(v, name, short, *v, usage)
		case *int:
			f.IntVarP(v, name, short, *v, usage)
		case *int64:
			f.Int64VarP(v, name, short, *v, usage)
		case *float64:
			f.Float64VarP(v, name, short, *v, usage)
		case *time.Duration:
			f.DurationVarP(v, name, short, *v, usage)
		case *[]string:
			f.StringArrayVarP(v, name, short, *v, usage)
		}
	}
}

// OptOf is Opt for texts with known values, which complete it. The command checks them.
func OptOf[T string | []string](value *T, name string, known []string, usage string) Option {
	long, _, _ := strings.Cut(name, " ")
	return func(cmd *cobra.Command, f *pflag.FlagSet) {
		Opt(value, name, usage)(cmd, f)
		complete(cmd, long, known)
	}
}

// complete makes a set of words the completion of a flag.
func complete(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// OneOf is a flag whose value is a member of a closed set. It is completed from the
// set, and any other value is a USAGE_ERROR. Dashes are accepted for
// underscores, since the values of other flags have dashes.
func OneOf[T ~string](value *T, name string, all []T, usage string) Option {
	name, valueName, _ := strings.Cut(name, " ")
	return choice[T]{name, valueName, all, func(v T) { *value = v }}.option(usage)
}

// ManyOf is OneOf for a flag that may be given several times.
func ManyOf[T ~string](values *[]T, name string, all []T, usage string) Option {
	name, valueName, _ := strings.Cut(name, " ")
	return choice[T]{name, valueName, all, func(v T) { *values = append(*values, v) }}.option(usage)
}

// nameValue sets the help's name of a flag's value. Without one, a switch, it does nothing. pflag can
// take that name from backquotes in the usage as well, where quoted text would become it.
func nameValue(f *pflag.FlagSet, flag, name string) {
	at := f.Lookup(flag)
	list, isList := at.Value.(pflag.SliceValue)
	switch {
	case isList:
		at.Value = namedList{named{at.Value, name}, list}
	case name != "":
		at.Value = named{at.Value, name}
	}
}

// named is a value of a flag with a name for the help.
type named struct {
	pflag.Value
	name string
}

// Type implements pflag.Value. Help shows it as the name of the value.
func (n named) Type() string { return n.name }

// namedList is a named list, which completion offers several times.
type namedList struct {
	named
	pflag.SliceValue
}

// choice is the pflag.Value of a member of a closed set.
type choice[T ~string] struct {
	name      string
	valueName string
	all       []T
	set       func(T)
}

// option returns the flag with its completion.
func (c choice[T]) option(usage string) Option {
	return func(cmd *cobra.Command, f *pflag.FlagSet) {
		f.Var(c, c.name, usage)
		complete(cmd, c.name, strings.Split(c.words(), ", "))
	}
}

// words lists the set.
func (c choice[T]) words() string { return page.JoinWords(c.all) }

// Set implements pflag.Value. The fault reaches the caller as the cause of a pflag error.
func (c choice[T]) Set(word string) error {
	if isBlank(word) {
		return EmptyFlag(c.name)
	}
	for _, v := range c.all {
		if string(v) == word || string(v) == strings.ReplaceAll(word, "-", "_") {
			c.set(v)
			return nil
		}
	}
	f := fault.New(fault.UsageError, "unknown value %q of --%s", word, c.name).Suggest("Use %s.", c.words())
	words := make([]string, len(c.all))
	for i, v := range c.all {
		words[i] = string(v)
	}
	if near := nearest.Of(word, words); near != "" {
		f.Suggest("Did you mean %s? The values are %s.", near, c.words())
	}
	return f
}

// String implements pflag.Value. No default is shown in the help.
func (c choice[T]) String() string { return "" }

// Type implements pflag.Value. Help shows it as the name of the value.
func (c choice[T]) Type() string { return c.valueName }
