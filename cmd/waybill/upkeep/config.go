package upkeep

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// configLong is the first paragraph of the help of 'waybill config'; the keys
// follow.
const configLong = `The configuration of a store is a set of keys, stored in the store itself. Change one
with 'waybill config set KEY VALUE'; other keys than these are refused.

`

// NewConfig returns the command "config" with its subcommands. Its help is
// generated from the table of keys, so that no key can be missing.
func NewConfig(a *cli.App) *cobra.Command {
	var long strings.Builder
	long.WriteString(configLong)
	// The same table validates the values, so that help and checks agree.
	for _, row := range config.Table {
		long.WriteString("  " + string(row.Key) + "\n")
		for _, text := range []string{row.Meaning, "Values: " + row.Want + ". Default: " +
			cmp.Or(plainValue(row.Default), "none") + "."} {
			long.WriteString("      " + strings.ReplaceAll(page.Wrap(text, page.HelpWidth-6), "\n", "\n      ") + "\n")
		}
	}
	return cli.NewGroup("config", cli.GroupSetup, "Show or change the configuration of a store", long.String(), newConfigGet(a),
		newConfigSet(a), newConfigConfirm(a))
}

// newConfigGet returns "config get". With a key the text output is the bare value,
// for scripts; without one, all keys with their meanings. The JSON document is a
// list in both cases. An unknown key is an error.
func newConfigGet(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "get [KEY]",
		Short: "Show one or all keys of the configuration",
		Long: "Print the value of a key. Without KEY, list all keys with their values and meanings.\n" +
			"Nothing is changed.",
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
					err = suggestKey(args[0], err)
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
// of later versions. A key of the policy is changed only after a person has
// confirmed the change (docs/design.md#settings).
//
// The store is created if it does not exist, so that it can be configured before
// the first run.
func newConfigSet(a *cli.App) *cobra.Command {
	var reset bool
	var sign cli.Signing
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one key of the configuration",
		Long: `Set a key to a value. The value is validated first. With --reset instead of VALUE the
key is reset to its default. 'waybill config --help' lists the keys.

All keys but ` + otherKeys() + `
decide who may do what, and so does autonomy full_auto_never_stop. Such a key is changed
at a terminal only: the change is shown, and you are asked. A value that is in force and
confirmed already is no change. The value of signers can be @FILE, a file in the form of
OpenSSH's allowed_signers.

` + cli.SigningHelp,
		Example: "  waybill config set lockWaitMs 10000\n  waybill config set agentMaxAutonomy guided\n" +
			"  waybill config set lockWaitMs --reset",
		Args: cli.AtMost("KEY", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || (len(args) == 2) == reset {
				return cli.UsageFault(cmd, "'%s' requires KEY and VALUE, or KEY and --reset", cmd.CommandPath())
			}
			if len(args) == 2 && args[0] == string(config.Signers) && strings.HasPrefix(args[1], "@") {
				var err error
				if args[1], err = readSigners(a, args[1][1:]); err != nil {
					return err
				}
			}
			var change settings.Change
			return sign.Finish(cli.Show(a, cmd, "config",
				func(ctx context.Context, o *cli.Store) (doc document.Settings, err error) {
					if reset {
						change, err = o.PlanReset(ctx, args[0])
					} else {
						change, err = o.PlanSet(ctx, args[0], args[1])
					}
					if err != nil {
						return doc, suggestKey(args[0], err)
					}
					s, err := changeConfig(ctx, a, o, change, &sign)
					return document.Settings{Settings: []config.Setting{s}}, err
				},
				func(p *page.Page, doc document.Settings) {
					already := ""
					if change.Unchanged {
						already = " already; nothing was changed"
					}
					p.Line("%s is %s%s", doc.Settings[0].Key, plainValue(doc.Settings[0].Value), already)
				}))
		},
	},
		cli.Opt(&reset, "reset", "reset KEY to its default"))
	sign.AddFlags(a, cmd)
	return cmd
}

// suggestKey adds the nearest key to an error about an unknown one.
func suggestKey(key string, err error) error {
	f := fault.Of(err)
	if f == nil || f.Details["keys"] == nil {
		return err
	}
	for _, known := range config.Keys() {
		if strings.EqualFold(known, key) {
			return f.Suggest("Did you mean %s?", known)
		}
	}
	if near := nearest.Of(key, config.Keys()); near != "" {
		return f.Suggest("Did you mean %s? %s lists all keys.", near, fault.Command{"config", "get"})
	}
	return f
}

// readSigners returns the value of the key signers that a file of allowed signers states.
func readSigners(a *cli.App, name string) (string, error) {
	all, err := a.ReadSigners(string(config.Signers), name)
	return string(consent.SignersValue(all).JCS()), err
}

// otherKeys names the keys that are no policy.
func otherKeys() string {
	var names []string
	for _, row := range config.Table {
		if !row.Policy {
			names = append(names, string(row.Key))
		}
	}
	return page.List(names, "and")
}

// changeConfig makes a change. A change of the policy is shown first and has to be confirmed at
// a terminal; elsewhere the error is RUN_WAITING and nothing is written.
func changeConfig(ctx context.Context, a *cli.App, o *cli.Store, change settings.Change, sign *cli.Signing) (config.Setting,
	error) {
	if change.Policy && !change.Unchanged {
		if err := sign.Check(ctx, o); err != nil {
			return change.Setting, err
		}
		show := func(p *page.Page) {
			p.Line("This setting decides who may do what in this store:")
			p.Verbatim("  ", page.Argument(o.Ports.Name()), page.Plain)
			showDifferences(p, change.Differences[:1])
			if more := change.Differences[1:]; len(more) > 0 {
				p.Line("These settings are not as they were confirmed, and are confirmed with it:")
				showDifferences(p, more)
			}
		}
		if err := sign.Asked(show, "Change it?"); err != nil {
			return change.Setting, err
		}
	}
	return o.OnMachine().ChangeConfig(ctx, sign.Caller(o), change)
}

// newConfigConfirm returns "config confirm". Settings that decide who may do what count only as a
// person confirmed them; the command shows what is in the files now, and records that a person
// confirmed it (docs/design.md#settings).
func newConfigConfirm(a *cli.App) *cobra.Command {
	var sign cli.Signing
	cmd := &cobra.Command{
		Use:   "confirm",
		Short: "Confirm settings changed outside 'waybill config'",
		Long: `Show the settings that decide who may do what, the trusted workflows, and the keys of
programs that call the server, where they are not the ones that a person confirmed last:
after config.json, trust.json or keys/http.json was edited, restored or deleted, and once
for a store of an earlier version. You are asked at a terminal, and the answer is
recorded in the audit log.

No setting is changed. Until the confirmation, approvals, proposals, cleanups, recorded
trust and keys are refused.

` + cli.SigningHelp,
		Example: "  waybill config confirm\n  waybill config get proposalsQuorum",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sign.Finish(cli.Show(a, cmd, "config",
				func(ctx context.Context, o *cli.Store) (doc document.Settings, err error) {
					c, err := o.PlanConfirmation(ctx)
					if err == nil && !c.IsEmpty() {
						err = sign.Check(ctx, o)
					}
					if err == nil && !c.IsEmpty() {
						err = sign.Asked(func(p *page.Page) { showConfirmation(p, o.Ports.Name(), c) }, "Confirm all of this?")
						if err == nil {
							err = o.OnMachine().Confirm(ctx, sign.Caller(o), c)
						}
					}
					if err == nil {
						err = confirmSources(ctx, a, o, &sign)
					}
					if err == nil {
						err = confirmNotify(ctx, a, o, &sign)
					}
					return document.Settings{Settings: append([]config.Setting{}, c.InForce...)}, err
				},
				func(p *page.Page, doc document.Settings) {
					p.Line("%s The settings, the trusted workflows and the keys of programs are confirmed.", p.Good("✓"))
				}))
		},
	}
	sign.AddFlags(a, cmd)
	return cmd
}

// confirmSources asks for the attached folders of this machine, where they are not the ones that a
// person confirmed, and records the answer in this store. Folders that cannot be read are an error,
// since a person could not see them.
func confirmSources(ctx context.Context, a *cli.App, o *cli.Store, sign *cli.Signing) error {
	attached := a.Attached(ctx)
	if !fault.Is(attached.Err, fault.PolicyUnconfirmed) {
		return attached.Err
	}
	err := sign.Asked(func(p *page.Page) {
		p.Line("The attached folders of this machine are not as a person confirmed them. All of them are:")
		render.Folders(p, attached.List)
		p.Line("Their workflows can be started by their ids; commands still need trust.")
	}, "Confirm these folders?")
	if err != nil {
		return err
	}
	return cli.ChangeSources(ctx, a, o, settings.SourcesChange{Before: attached.List, After: attached.List,
		Does: "confirm"}, sign)
}

// confirmNotify asks for the command of notifications where no person confirmed it on this machine: the store was
// configured on another one, or copied.
func confirmNotify(ctx context.Context, a *cli.App, o *cli.Store, sign *cli.Signing) error {
	argv, err := o.OnMachine().UnconfirmedNotify(ctx)
	if err != nil || len(argv) == 0 {
		return err
	}
	if err := sign.Check(ctx, o); err != nil {
		return err
	}
	err = sign.Asked(func(p *page.Page) {
		p.Line("No person confirmed the command of notifications of this store on this machine:")
		p.Verbatim("  ", page.Argument(o.Ports.Name()), page.Plain)
		render.Command(p, "  ", argv, "", nil)
		p.Line("It is started with your rights after a run blocks, waits, completes or fails.")
	}, "May it run on this machine?")
	if err != nil {
		return err
	}
	return o.OnMachine().ConfirmNotify(ctx, sign.Caller(o), argv)
}

// showConfirmation prints what a person is asked to confirm: what changed since the last
// confirmation, all settings in force that are not the default, the trusted workflows, and the keys
// of programs.
func showConfirmation(p *page.Page, store string, c settings.Confirmation) {
	p.Text("", "The store "+page.Argument(store)+" is not as a person confirmed it last.")
	if len(c.Differences) > 0 {
		p.Line("These settings decide who may do what, and changed:")
		showDifferences(p, c.Differences)
		p.Line("Of the settings that decide who may do what, these are not the default:")
		for _, s := range c.InForce {
			p.Text("  ", string(s.Key)+": "+page.Value(plainValue(s.Value)))
		}
		if len(c.InForce) == 0 {
			p.Line("  none")
		}
	}
	if c.Trusted != nil {
		p.Line("The list of trusted workflows changed. The commands of these may run:")
		render.TrustEntries(p, *c.Trusted)
	}
	if c.HTTPKeys != nil {
		p.Line("The keys of programs changed. The server lets programs with these do this:")
		render.HTTPKeys(p, *c.HTTPKeys)
	}
}

// showDifferences prints settings with the value that was confirmed last, the value now, and what
// the setting means.
func showDifferences(p *page.Page, all []settings.Difference) {
	for _, d := range all {
		old := page.Value(plainValue(d.Old))
		if !d.Known {
			old = "(not recorded)"
		}
		p.Text("  ", string(d.Key)+": "+old+" -> "+page.Value(plainValue(d.New)))
		p.Text("      ", d.Meaning)
	}
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
