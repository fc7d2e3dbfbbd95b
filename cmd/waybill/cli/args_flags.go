package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// flagFault converts a flag error of pflag to a USAGE_ERROR. It does not use pflag's texts,
// which contain names of Go functions. For an unknown flag it suggests the nearest name.
// pflag.ErrHelp is returned unchanged.
func flagFault(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		refused *fault.Fault // of choice.Set
	)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		_, usage := pflag.UnquoteUsage(flag)
		return UsageFault(cmd, "invalid value for --%s: %q", flag.Name, invalid.GetValue()).
			Suggest("--%s: %s.", flag.Name, usage)
	case errors.As(err, &missing):
		name, usage := pflag.UnquoteUsage(missing.GetFlag())
		return UsageFault(cmd, "--%s needs a value", missing.GetFlag().Name).
			Suggest("--%s %s: %s.", missing.GetFlag().Name, name, usage)
	}
	return UsageFault(cmd, "%s", sentence(err))
}

// unknownFlag returns the USAGE_ERROR for a flag that the command does not have.
func unknownFlag(cmd *cobra.Command, name string) error {
	// The flag may be that of a command which the program does not have, as in "log --oneline".
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		if err := cmd.ValidateArgs(words); err != nil {
			return err
		}
	}
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	f := UsageFault(cmd, "'%s' has no flag %s%s", cmd.CommandPath(), dashes, name)
	if name == "version" { // the program itself has it
		return f.Suggest("Use %s.", fault.Command{"version"})
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := nearest.Of(name, names); near != "" && len(name) > 1 {
		f.Suggest("Did you mean --%s? %s lists all.", near, commandOf(cmd, "--help"))
	}
	return f
}

// checkBlank returns the USAGE_ERROR for an argument or a flag of the call that is empty or blank. In a script
// this is usually an unset variable; the call would do something else without it.
func checkBlank(cmd *cobra.Command, args []string) error {
	if cmd.DisableFlagParsing || cmd.Annotations[LetsGo] != "" { // completion, and calls of other programs
		return nil
	}
	for _, arg := range args {
		if isBlank(arg) {
			return UsageFault(cmd, "'%s' has an empty argument", cmd.CommandPath()).
				Suggest("Check for an unset shell variable. %s shows the arguments.", commandOf(cmd, "--help"))
		}
	}
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		values := []string{"-"} // other types refuse an empty value when they are parsed
		switch list, ok := flag.Value.(pflag.SliceValue); {
		case ok:
			values = list.GetSlice()
		case isText(flag.Value):
			values = []string{flag.Value.String()}
		}
		for _, value := range values {
			if err == nil && isBlank(value) {
				err = EmptyFlag(flag.Name)
			}
		}
	})
	return err
}

// isBlank reports whether a text has no visible character.
func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// isText reports whether any text is a value of a flag.
func isText(v pflag.Value) bool {
	if n, ok := v.(named); ok {
		v = n.Value
	}
	return v.Type() == "string"
}
