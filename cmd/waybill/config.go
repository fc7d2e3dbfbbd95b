package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/terminal"
)

const configLong = `What can be configured is a closed set of keys, kept in the store that it is about.

`

// newConfigCommand builds its help from the table of keys, so that a new key is
// explained without anybody thinking of it.
func newConfigCommand(a *app) *cobra.Command {
	long := configLong
	for _, row := range config.Table {
		long += "  " + string(row.Key) + "\n"
		for _, text := range []string{row.Meaning, "Values: " + row.Want + ". Default: " + plainValue(row.Default) +
			"."} {
			long += "      " + strings.ReplaceAll(terminal.Wrap(text, helpWidth-6), "\n", "\n      ") + "\n"
		}
	}
	return newGroup("config", groupSetup, "Show or change how a store is configured", long, newConfigGetCommand(a),
		newConfigSetCommand(a))
}

// settings is the document "config".
type settings struct {
	Settings []config.Setting `json:"settings"`
}

// newConfigGetCommand prints one bare value for a script, or all with their meaning.
func newConfigGetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "get [KEY]",
		Short:   "Show one key of the configuration, or all",
		Long:    "Show the value of a key. Without KEY, all keys with their values and what they mean.",
		Example: "  waybill config get\n  waybill config get lockWaitMs",
		Args:    atMost("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			c, err := o.Config(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.answer("config", settings{Settings: c.All()}, func(p *page) { p.settings(c.All()) })
			}
			s, err := c.Get(args[0])
			if err != nil {
				return err
			}
			return a.answer("config", settings{Settings: []config.Setting{s}},
				func(p *page) { p.line("%s", plainValue(s.Value)) })
		},
	}
}

func newConfigSetCommand(a *app) *cobra.Command {
	var reset bool
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one key of the configuration",
		Long: `Set a key to a value, which is checked first. With --reset in place of VALUE the key
goes back to its default.`,
		Example: "  waybill config set lockWaitMs 10000\n  waybill config set agentMaxAutonomy guided\n" +
			"  waybill config set lockWaitMs --reset",
		Args: atMost("KEY", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || (len(args) == 2) == reset {
				return usageFault(cmd, "'%s' needs KEY and VALUE, or KEY and --reset", cmd.CommandPath())
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			var s config.Setting
			if reset {
				s, err = o.ResetConfig(cmd.Context(), args[0])
			} else {
				s, err = o.SetConfig(cmd.Context(), args[0], args[1])
			}
			if err != nil {
				return err
			}
			return a.answer("config", settings{Settings: []config.Setting{s}},
				func(p *page) { p.line("%s is %s", s.Key, plainValue(s.Value)) })
		},
	}
	cmd.Flags().BoolVar(&reset, "reset", false, "go back to the default")
	return cmd
}

// plainValue is a value as a person types it.
func plainValue(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.JCS())
}

// settings lists keys with where their value comes from: whoever debugs has to know
// whether somebody chose it.
func (p *page) settings(all []config.Setting) {
	for _, s := range all {
		origin := "the default"
		if s.Set {
			origin = "set here"
		}
		p.line("%s = %s  %s", p.bold(string(s.Key)), plainValue(s.Value), p.dim("("+origin+")"))
		p.text("    ", s.Meaning)
	}
}
