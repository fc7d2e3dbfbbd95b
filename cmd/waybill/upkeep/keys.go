package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// keysLong is what 'waybill keys --help' prints above the usage.
const keysLong = `Tokens are signed with keys that lie in the store and never leave it. There are two of
them: the current one signs, and tokens of the previous one are accepted as well. Keys
are called by a fingerprint, which says nothing about them.`

// NewKeys makes the command "keys" with its subcommands. Keys are named by
// fingerprints; no command prints a key.
func NewKeys(a *cli.App) *cobra.Command {
	return cli.NewGroup("keys", cli.GroupSetup, "Show or replace the keys that tokens are signed with", keysLong,
		newKeysList(a), newKeysRotate(a))
}

// newKeysList makes "keys list". A keyring that is missing is in order, since
// the first token makes one; one that cannot be used ends with exit status 5.
func newKeysList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show the fingerprints of the keys",
		Long:    "Show the fingerprints of the current and the previous key, or why there are none.",
		Example: "  waybill keys list\n  waybill keys list --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.ShowVerdict(a, cmd, "keys",
				func(ctx context.Context, o *cli.Store) (engine.KeyList, error) { return o.ListKeys(ctx) },
				showKeys,
				func(k engine.KeyList) int { return cli.IntegrityUnless(k.State != engine.KeysUnusable) })
		},
	}
}

// rotateLong is what 'waybill keys rotate --help' prints above the usage.
const rotateLong = `Make a fresh key, which signs from now on. Tokens that are out stay good: the key that
was current is now the previous one. Tokens of the key that was previous until now are
worthless from here on.

Where the keyring is gone, damaged or readable by others, every token that was handed
out is worthless already, or must become so. Then a new keyring takes its place, and the
old one moves to the quarantine. No run is lost: 'waybill continue --run RUN' needs no
token and hands out fresh ones.

At a terminal you are asked; without one --yes is needed. --if-current says which key
is meant to be replaced: if it is not the current one any more, nothing happens.`

// newKeysRotate makes "keys rotate". --if-current makes it safe to repeat: a
// key that was replaced meanwhile is not replaced again. An empty --if-current
// is refused, since it is a variable that is not set.
func newKeysRotate(a *cli.App) *cobra.Command {
	var yes bool
	var ifCurrent string
	cmd := &cobra.Command{
		Use:     "rotate",
		Short:   "Replace the key that tokens are signed with",
		Long:    rotateLong,
		Example: "  waybill keys rotate\n  waybill keys rotate --yes --if-current 1f0c9a3e",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ifCurrent == "" && cmd.Flags().Changed("if-current") {
				return cli.UsageFault(cmd, "--if-current is given and empty").
					Suggest("Give a fingerprint, as 'waybill keys list' shows it. Is a variable not set?")
			}
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			return rotateKeys(cmd.Context(), a, o, ifCurrent, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "agree without being asked")
	cmd.Flags().StringVar(&ifCurrent, "if-current", "", "replace the key with this `FINGERPRINT` and no other")
	return cmd
}

// rotateKeys replaces the keys as they were when the call began: a rotation by
// another process in between is not undone, and costs no caller a token. It
// asks first, unless the store does not exist yet and there is nothing to lose.
//
// The question says which tokens become invalid: those of the previous key, or
// all of them where the keyring cannot be used. Runs are never lost with
// tokens; 'continue --run' makes new ones.
func rotateKeys(ctx context.Context, a *cli.App, o *cli.Store, ifCurrent string, yes bool) error {
	// What is replaced is what was seen here; the engine compares.
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
		// Nothing is asked where no person can answer.
		if !a.IsTerminal(a.In) || a.Flags.JSON {
			return fault.New(fault.ValidationError, "%s; nobody has agreed to that", cost(have)).
				Suggest("Say --yes: 'waybill keys rotate --yes'.")
		}
		if !a.AskYes(func(p *page.Page) { showKeys(p, have); p.Text("", cost(have)+".") }, "Replace it? [y/N] ") {
			return cli.NotConfirmed()
		}
	}
	k, err := o.RotateKeys(ctx, a.Caller(), have)
	if err != nil {
		return err
	}
	return a.Answer("keys", k, func(p *page.Page) {
		p.Text(p.Good("✓ "), "A fresh key signs from now on.")
		showKeys(p, k)
		// A keyring that could not be used is kept, so that it can be examined.
		if k.Quarantine != "" {
			p.Line("The old keyring lies in %s.", page.Clean(k.Quarantine))
		}
		if k.Previous == "" {
			p.Text("", "Tokens that were handed out before are worthless. Runs are not: "+
				a.Command("continue", "--run", "RUN")+" goes on.")
		}
	})
}

// cost is what a rotation makes invalid, as the beginning of a sentence.
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

// showKeys prints the fingerprints, or why there are none.
func showKeys(p *page.Page, k engine.KeyList) {
	switch k.State {
	case engine.KeysMissing:
		p.Line("There is no keyring; the first answer with a token makes one.")
		return
	case engine.KeysUnusable:
		p.Text(p.Bad("✗ "), "The keyring cannot be used: "+k.Problem+".")
		return
	}
	p.Line("current   %s", p.Bold(k.Current))
	if k.Previous != "" {
		p.Line("previous  %s", k.Previous)
	}
}
