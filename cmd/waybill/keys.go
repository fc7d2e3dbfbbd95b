package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

const keysLong = `Tokens are signed with keys that lie in the store and never leave it. There are two of
them: the current one signs, and tokens of the previous one are accepted as well. Keys
are called by a fingerprint, which says nothing about them.`

func newKeysCommand(a *app) *cobra.Command {
	return newGroup("keys", groupSetup, "Show or replace the keys that tokens are signed with", keysLong,
		newKeysListCommand(a), newKeysRotateCommand(a))
}

func newKeysListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show the fingerprints of the keys",
		Long:    "Show the fingerprints of the current and the previous key, or why there are none.",
		Example: "  waybill keys list\n  waybill keys list --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			k, err := o.ListKeys(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.answer("keys", k, func(p *page) { p.keys(k) }); err != nil || k.State != engine.KeysUnusable {
				return err
			}
			return exitWith(fault.ExitIntegrity)
		},
	}
}

const rotateLong = `Make a fresh key, which signs from now on. Tokens that are out stay good: the key that
was current is now the previous one. Tokens of the key that was previous until now are
worthless from here on.

Where the keyring is gone, damaged or readable by others, every token that was handed
out is worthless already, or must become so. Then a new keyring takes its place, and the
old one moves to the quarantine. No run is lost: 'waybill continue --run RUN' needs no
token and hands out fresh ones.

At a terminal you are asked; without one --yes is needed. --if-current says which key
is meant to be replaced: if it is not the current one any more, nothing happens.`

func newKeysRotateCommand(a *app) *cobra.Command {
	var yes bool
	var ifCurrent string
	cmd := &cobra.Command{
		Use:     "rotate",
		Short:   "Replace the key that tokens are signed with",
		Long:    rotateLong,
		Example: "  waybill keys rotate\n  waybill keys rotate --yes --if-current 1f0c9a3e",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ifCurrent == "" && cmd.Flags().Changed("if-current") {
				return usageFault(cmd, "--if-current is given and empty").
					Suggest("Give a fingerprint, as 'waybill keys list' shows it. Is a variable not set?")
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			return a.rotate(cmd.Context(), o, ifCurrent, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "agree without being asked")
	cmd.Flags().StringVar(&ifCurrent, "if-current", "", "replace the key with this `FINGERPRINT` and no other")
	return cmd
}

// rotate replaces the keys as they were when it was asked for: whoever did so meanwhile
// is not undone, and costs nobody a token.
func (a *app) rotate(ctx context.Context, o *opened, ifCurrent string, yes bool) error {
	have, err := o.ListKeys(ctx)
	if err != nil {
		return err
	}
	if ifCurrent != "" && ifCurrent != have.Current {
		return fault.New(fault.ValidationError, "the current key is not %s: nothing was changed", ifCurrent).
			Suggest("See which one it is with 'waybill keys list'.").With("current", have.Current)
	}
	store, err := o.Identity.StoreID(ctx, ports.ReadOnly)
	if err == nil && !store.IsZero() && !yes {
		if !a.isTerminal(a.in) || a.common.json {
			return fault.New(fault.ValidationError, "%s; nobody has agreed to that", cost(have)).
				Suggest("Say --yes: 'waybill keys rotate --yes'.")
		}
		if !a.agree(func(p *page) { p.keys(have); p.text("", cost(have)+".") }, "Replace it? [y/N] ") {
			return disagreed()
		}
	}
	k, err := o.RotateKeys(ctx, a.caller(), have)
	if err != nil {
		return err
	}
	return a.answer("keys", k, func(p *page) {
		p.text(p.good("✓ "), "A fresh key signs from now on.")
		p.keys(k)
		if k.Quarantine != "" {
			p.line("The old keyring lies in %s.", clean(k.Quarantine))
		}
		if k.Previous == "" {
			p.text("", "Tokens that were handed out before are worthless. Runs are not: "+
				a.command("continue", "--run", "RUN")+" goes on.")
		}
	})
}

// cost says what a rotation takes away from others.
func cost(have engine.KeyList) string {
	switch {
	case have.State != engine.KeysReady:
		return "a new keyring makes every token that was handed out worthless; runs are not lost, 'waybill continue " +
			"--run RUN' goes on"
	case have.Previous != "":
		return "tokens of key " + have.Previous + ", which is the previous one, become worthless"
	}
	return "tokens of key " + have.Current + " stay good until the next rotation"
}

// keys lists fingerprints.
func (p *page) keys(k engine.KeyList) {
	switch k.State {
	case engine.KeysMissing:
		p.line("There is no keyring; the first answer with a token makes one.")
		return
	case engine.KeysUnusable:
		p.text(p.bad("✗ "), "The keyring cannot be used: "+k.Problem+".")
		return
	}
	p.line("current   %s", p.bold(k.Current))
	if k.Previous != "" {
		p.line("previous  %s", k.Previous)
	}
}
