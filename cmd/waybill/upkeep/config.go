package upkeep

import (
	"context"

	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/terminal"
)

// configLong begins the help of 'waybill config'; the keys follow.
const configLong = `What can be configured is a closed set of keys, kept in the store that it is about.

`

// NewConfig makes the command "config" with its subcommands. Its help is made
// from the table of keys, so that it cannot miss a key.
func NewConfig(a *cli.App) *cobra.Command {
	long := configLong
	// The table explains each key, so that help and checks agree.
	for _, row := range config.Table {
		long += "  " + string(row.Key) + "\n"
		for _, text := range []string{row.Meaning, "Values: " + row.Want + ". Default: " + plainValue(row.Default) +
			"."} {
			long += "      " + strings.ReplaceAll(terminal.Wrap(text, page.HelpWidth-6), "\n", "\n      ") + "\n"
		}
	}
	return cli.NewGroup("config", cli.GroupSetup, "Show or change how a store is configured", long, newConfigGet(a),
		newConfigSet(a))
}

// newConfigGet makes "config get". With a key it prints the bare value, for
// scripts; without one, all keys with their meanings. The document is a list in
// both cases.
func newConfigGet(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "get [KEY]",
		Short:   "Show one key of the configuration, or all",
		Long:    "Show the value of a key. Without KEY, all keys with their values and what they mean.",
		Example: "  waybill config get\n  waybill config get lockWaitMs",
		Args:    cli.AtMost("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "config",
				func(ctx context.Context, o *cli.Store) (document.Settings, error) {
					c, err := o.Config(ctx)
					if err != nil || len(args) == 0 {
						return document.Settings{Settings: c.All()}, err
					}
					s, err := c.Get(args[0])
					return document.Settings{Settings: []config.Setting{s}}, err
				},
				func(p *page.Page, doc document.Settings) {
					// Without a key, all of them with their meanings.
					if len(args) == 0 {
						showSettings(p, doc.Settings)
						return
					}
					p.Line("%s", plainValue(doc.Settings[0].Value))
				})
		},
	}
}

// newConfigSet makes "config set". The value is checked by the table of keys
// before it is written. --reset removes the key, so that it follows the default
// of later versions.
//
// It makes the store where there is none, since a configuration can be wanted
// before the first run.
func newConfigSet(a *cli.App) *cobra.Command {
	var reset bool
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one key of the configuration",
		Long: `Set a key to a value, which is checked first. With --reset in place of VALUE the key
goes back to its default.`,
		Example: "  waybill config set lockWaitMs 10000\n  waybill config set agentMaxAutonomy guided\n" +
			"  waybill config set lockWaitMs --reset",
		Args: cli.AtMost("KEY", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || (len(args) == 2) == reset {
				return cli.UsageFault(cmd, "'%s' needs KEY and VALUE, or KEY and --reset", cmd.CommandPath())
			}
			return cli.Show(a, cmd, "config",
				func(ctx context.Context, o *cli.Store) (doc document.Settings, err error) {
					var s config.Setting
					if reset {
						s, err = o.ResetConfig(ctx, args[0])
					} else {
						s, err = o.SetConfig(ctx, args[0], args[1])
					}
					return document.Settings{Settings: []config.Setting{s}}, err
				},
				func(p *page.Page, doc document.Settings) {
					p.Line("%s is %s", doc.Settings[0].Key, plainValue(doc.Settings[0].Value))
				})
		},
	}
	cmd.Flags().BoolVar(&reset, "reset", false, "go back to the default")
	return cmd
}

// plainValue is a value as a person types it: text without quotes, all else as
// JSON.
func plainValue(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.JCS())
}

// showSettings prints each key with its value and where that comes from: a
// reader who looks for the cause of something has to know whether a value was
// chosen.
func showSettings(p *page.Page, all []config.Setting) {
	for _, s := range all {
		origin := "the default"
		if s.Set {
			origin = "set here"
		}
		p.Line("%s = %s  %s", p.Bold(string(s.Key)), plainValue(s.Value), p.Dim("("+origin+")"))
		p.Text("    ", s.Meaning)
	}
}
