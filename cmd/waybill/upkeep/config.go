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
)

// configLong is the first paragraph of the help of 'waybill config'; the keys
// follow.
const configLong = `The configuration of a store is a set of keys, stored in the store itself. Change one
with 'waybill config set KEY VALUE'; other keys than these are refused.

`

// NewConfig returns the command "config" with its subcommands. Its help is
// generated from the table of keys, so that no key can be missing.
func NewConfig(a *cli.App) *cobra.Command {
	long := configLong
	// The same table validates the values, so that help and checks agree.
	for _, row := range config.Table {
		long += "  " + string(row.Key) + "\n"
		for _, text := range []string{row.Meaning, "Values: " + row.Want + ". Default: " + plainValue(row.Default) +
			"."} {
			long += "      " + strings.ReplaceAll(page.Wrap(text, page.HelpWidth-6), "\n", "\n      ") + "\n"
		}
	}
	return cli.NewGroup("config", cli.GroupSetup, "Show or change the configuration of a store", long, newConfigGet(a),
		newConfigSet(a))
}

// newConfigGet returns "config get". With a key the text output is the bare value,
// for scripts; without one, all keys with their meanings. The JSON document is a
// list in both cases. An unknown key is an error.
func newConfigGet(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "get [KEY]",
		Short:   "Show one or all keys of the configuration",
		Long:    "Print the value of a key. Without KEY, list all keys with their values and meanings.",
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
					if len(args) == 0 {
						showSettings(p, doc.Settings)
						return
					}
					p.Line("%s", plainValue(doc.Settings[0].Value))
				})
		},
	}
}

// newConfigSet returns "config set". The value is validated by the table of keys
// before it is written. --reset removes the key, so that it follows the defaults
// of later versions.
//
// The store is created if it does not exist, so that it can be configured before
// the first run.
func newConfigSet(a *cli.App) *cobra.Command {
	var reset bool
	return cli.WithOptions(&cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one key of the configuration",
		Long: `Set a key to a value. The value is validated first. With --reset instead of VALUE the
key is reset to its default. 'waybill config --help' lists the keys.`,
		Example: "  waybill config set lockWaitMs 10000\n  waybill config set agentMaxAutonomy guided\n" +
			"  waybill config set lockWaitMs --reset",
		Args: cli.AtMost("KEY", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || (len(args) == 2) == reset {
				return cli.UsageFault(cmd, "'%s' requires KEY and VALUE, or KEY and --reset", cmd.CommandPath())
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
	},
		cli.Opt(&reset, "reset", "reset KEY to its default"))
}

// plainValue returns a value as a user types it: a string without quotes, other
// values as canonical JSON.
func plainValue(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.JCS())
}

// showSettings prints each key with its value, whether that is the default or was
// set, and its meaning. A default can change with the version, a set value cannot.
func showSettings(p *page.Page, all []config.Setting) {
	for _, s := range all {
		origin := "default"
		if s.Set {
			origin = "set"
		}
		p.Line("%s = %s  %s", p.Bold(string(s.Key)), plainValue(s.Value), p.Dim("("+origin+")"))
		p.Text("    ", s.Meaning)
	}
}
