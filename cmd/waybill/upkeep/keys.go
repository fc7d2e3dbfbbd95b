package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
)

// keysLong is what 'waybill keys --help' prints above the usage.
const keysLong = `Tokens are signed with keys that are stored in the store and never leave it. New tokens
are signed with the current key; tokens of the previous key are accepted as well. Keys
are named by fingerprints, from which a key cannot be derived.`

// NewKeys returns the command "keys" with its subcommands (docs/design.md#tokens).
// Keys are named by fingerprints; no command prints a key.
func NewKeys(a *cli.App) *cobra.Command {
	return cli.NewGroup("keys", cli.GroupSetup, "Show or rotate the keys that sign tokens", keysLong,
		newKeysList(a), newKeysRotate(a))
}

// newKeysList returns "keys list". A missing keyring is no error, since the first
// token creates it. The exit status is 5 for a keyring that cannot be used.
func newKeysList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Show the fingerprints of the keys",
		Long: "Show the fingerprints of the current and the previous key, or why no key can be used.\n" +
			"Nothing is changed.",
		Example: "  waybill keys list\n  waybill keys list --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.ShowVerdict(a, cmd, "keys",
				func(ctx context.Context, o *cli.Store) (upkeep.KeyList, error) { return o.ListKeys(ctx) },
				showKeys,
				func(k upkeep.KeyList) int { return cli.IntegrityStatus(k.State != upkeep.KeysUnusable) })
		},
	}
}

// rotateLong is what 'waybill keys rotate --help' prints above the usage.
const rotateLong = `Create a new key, which signs new tokens. The current key becomes the previous key, and
its tokens remain valid. Tokens of the key that was the previous one until now become
invalid.

If the keyring is missing, damaged or readable by other users, it is replaced by a new
one: all tokens become invalid, and the old keyring is moved to the quarantine. No run
is lost: 'waybill continue --run RUN' requires no token and returns new ones.

At a terminal the command asks for confirmation; elsewhere --yes is required. --if-current
names the key to replace: if another key is current, nothing is changed.`

// newKeysRotate returns "keys rotate". --if-current makes it safe to repeat: a key
// that was replaced meanwhile is not replaced again. An empty --if-current is
// rejected, since it usually is an unset variable.
func newKeysRotate(a *cli.App) *cobra.Command {
	var yes bool
	var ifCurrent string
	return cli.WithOptions(&cobra.Command{
		Use:     "rotate",
		Short:   "Rotate the key that signs tokens",
		Long:    rotateLong,
		Example: "  waybill keys rotate\n  waybill keys rotate --yes --if-current 1f0c9a3e",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ifCurrent == "" && cmd.Flags().Changed("if-current") {
				return cli.UsageFault(cmd, "--if-current is given and empty").
					Suggest("Give a fingerprint, as %s shows it. Is a variable not set?", fault.Command{"keys", "list"})
			}
			return cli.Show(a, cmd, "keys",
				func(ctx context.Context, o *cli.Store) (upkeep.KeyList, error) {
					return rotateKeys(ctx, a, o, ifCurrent, yes)
				},
				func(p *page.Page, k upkeep.KeyList) { showRotated(a, k, p) })
		},
	},
		cli.Opt(&yes, "yes", "confirm without being asked"),
		cli.Opt(&ifCurrent, "if-current FINGERPRINT", "replace the key only if its FINGERPRINT is this one"))
}

// rotateKeys replaces the keys that are listed at the beginning of the call; the
// engine compares, so that two concurrent rotations do not invalidate the tokens
// of both keys. The user is asked first, unless the store does not exist yet, in
// which case no token exists either.
//
// The question states which tokens become invalid: those of the previous key, or
// all of them if the keyring cannot be used. Runs do not depend on tokens;
// 'continue --run' returns new ones.
func rotateKeys(ctx context.Context, a *cli.App, o *cli.Store, ifCurrent string, yes bool) (upkeep.KeyList,
	error) {
	// The engine replaces exactly the keys that are read here.
	have, err := o.ListKeys(ctx)
	if err != nil {
		return have, err
	}
	if ifCurrent != "" && ifCurrent != have.Current {
		return have, fault.New(fault.ValidationError, "the current key is not %s; nothing was changed", ifCurrent).
			Suggest("Show the current key with %s.", fault.Command{"keys", "list"}).With("current", have.Current)
	}
	store, err := o.StoreID(ctx)
	if err == nil && !store.IsZero() {
		show := func(p *page.Page) { showKeys(p, have); p.Text("", rotationEffect(have)+".") }
		if !yes && !a.AtTerminal() {
			return have, fault.New(fault.RunWaiting, "confirmation required: %s", rotationEffect(have)).
				Suggest("Confirm with %s, or run this at a terminal, without a pipe or a redirection.",
					fault.Command{"keys", "rotate", "--yes"})
		}
		if err := a.Confirm(yes, "Replace it?", show); err != nil {
			return have, err
		}
	}
	return o.RotateKeys(ctx, o.Caller(), have)
}

// showRotated prints the new keys, and which tokens are invalid.
func showRotated(a *cli.App, k upkeep.KeyList, p *page.Page) {
	p.Text(p.Good("✓ "), "New tokens are signed with a new key.")
	showKeys(p, k)
	// A keyring that could not be used is not deleted, so that it can be examined.
	if k.Quarantine != "" {
		p.Line("The old keyring is in %s.", page.OneLine(k.Quarantine))
	}
	if k.Previous == "" {
		p.Text("", "All earlier tokens are invalid. No run is lost; continue one with: "+
			a.Command("continue", "--run", "RUN"))
	}
}

// rotationEffect describes which tokens a rotation makes invalid, as a clause
// without a full stop.
func rotationEffect(have upkeep.KeyList) string {
	switch {
	case have.State != upkeep.KeysReady:
		return "a new keyring makes all tokens invalid; no run is lost, 'waybill continue --run RUN' returns " +
			"new tokens"
	case have.Previous != "":
		return "tokens of key " + have.Previous + ", the previous one, become invalid"
	}
	return "tokens of key " + have.Current + " remain valid until the next rotation"
}

// showKeys prints the fingerprints, or why no key can be used.
func showKeys(p *page.Page, k upkeep.KeyList) {
	switch k.State {
	case upkeep.KeysMissing:
		p.Line("No keyring exists; the first token creates one.")
		return
	case upkeep.KeysUnusable:
		p.Text(p.Bad("✗ "), "The keyring cannot be used: "+k.Problem+".")
		return
	}
	p.Line("current   %s", p.Bold(k.Current))
	if k.Previous != "" {
		p.Line("previous  %s", k.Previous)
	}
}
