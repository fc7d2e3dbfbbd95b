package cli

import (
	"errors"

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
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	f := UsageFault(cmd, "'%s' has no flag %s%s", cmd.CommandPath(), dashes, name)
	if name == "version" { // new users often try --version first
		return f.Suggest("Use %s.", fault.Command{"version"})
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := nearest.Of(name, names); near != "" && len(name) > 1 {
		f.Suggest("Did you mean --%s? %s lists all.", near, commandOf(cmd, "--help"))
	}
	return f
}
