package upkeep

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
)

// artifactsEraseLong is what 'waybill artifacts erase --help' prints above the
// usage.
const artifactsEraseLong = `Remove the bytes of an artifact permanently, for example because it contains a secret.
The logs keep its kind, length and digest; who erased it, when and why is recorded. The
artifact is removed from every session of the store, and the same bytes are not stored
if they are submitted again. Copies outside of this store, such as exported bundles, are
not changed.

At a terminal the command asks for confirmation; elsewhere --yes is required.`

// NewArtifacts returns the command "artifacts" with its subcommands.
func NewArtifacts(a *cli.App) *cobra.Command {
	return cli.NewGroup("artifacts", cli.GroupMaintain, "List, show and erase submitted artifacts",
		"An artifact is a result that a step submitted, stored as a file under the digest of its bytes.\n"+
			"DIGEST is sha256: and 64 digits, or the digits alone; list, show and get also accept the first of\n"+
			"them.",
		newArtifactsList(a), newArtifactsShow(a), newArtifactsGet(a), newArtifactsErase(a))
}

// newArtifactsErase returns "artifacts erase". It removes the bytes of an artifact
// from the whole store and writes a tombstone with the reason; events keep the
// digest, so that the log can still be verified.
//
// The engine is asked before the user whether the artifact can be erased.
// --reason is required, since the content cannot explain the erasure later.
// Erasing the same artifact again is no error.
func newArtifactsErase(a *cli.App) *cobra.Command {
	var reason string
	var yes bool
	return cli.WithOptions(&cobra.Command{
		Use:   "erase DIGEST --reason TEXT",
		Short: "Remove the bytes of an artifact permanently",
		Long:  artifactsEraseLong,
		Example: "  waybill artifacts erase sha256:9f86d0… --reason \"It held a password\"\n" +
			"  waybill artifacts list @last --json | jq -r '.data.artifacts[].sha256'",
		Args: cli.Exactly("DIGEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// A prefix is not accepted: it could select another artifact, and the
			// erasure cannot be undone.
			ref, err := canon.ParseDigest(args[0])
			if err != nil {
				return cli.UsageFault(cmd, "%q is not a digest: %v", args[0], err).
					Suggest("Give the complete digest, as %s shows it: sha256: and 64 digits.",
						fault.Command{"artifacts", "list", "RUN"})
			}
			if reason == "" {
				return cli.UsageFault(cmd, "'%s' requires --reason: it is stored instead of the artifact",
					cmd.CommandPath())
			}
			return cli.Show(a, cmd, "erased", func(ctx context.Context, o *cli.Store) (done upkeep.ErasedArtifact,
				err error) {
				// The user is asked only if the artifact can be erased.
				if err = o.Erasable(ctx, ref); err != nil {
					return done, err
				}
				if err = confirmErase(ctx, a, o, ref, reason, yes); err != nil {
					return done, err
				}
				return o.EraseArtifact(ctx, o.Caller(), ref, reason)
			}, func(p *page.Page, e upkeep.ErasedArtifact) {
				if e.Already {
					p.Line("Already erased; remaining files of it were removed.")
				} else {
					p.Line("%s %s erased permanently.", p.Good("✓"), page.Size(e.Bytes))
				}
				render.Redactions(p, e.Redactions)
			})
		},
	},
		cli.Opt(&reason, "reason TEXT", "record TEXT as the reason (required)"),
		cli.Opt(&yes, "yes", "confirm without being asked"))
}

// confirmErase shows what an artifact is, the steps that submitted it and the reason that replaces
// it, and asks. All logs are read for that, unless nothing is asked.
func confirmErase(ctx context.Context, a *cli.App, o *cli.Store, ref canon.Digest, reason string, yes bool) error {
	var uses upkeep.ArtifactUses
	if !yes && a.AtTerminal() {
		var err error
		if uses, err = o.ArtifactUses(ctx, ref); err != nil {
			return err
		}
	}
	return a.Confirm(yes, "Erase it permanently?", func(p *page.Page) { showErasure(p, ref, uses, reason) })
}

// showErasure prints what a person is asked to erase.
func showErasure(p *page.Page, ref canon.Digest, uses upkeep.ArtifactUses, reason string) {
	p.Line("%s", p.Bold("The artifact "+ref.String()))
	for _, use := range uses.Submitted {
		what := cmp.Or(use.Kind, "no kind") + ", " + use.Type + ", " + page.Plural(int(use.Bytes), "byte")
		p.Text("  ", page.Name(what))
		where := "run " + page.ShortRun(use.Run.RunID) + " (" + use.Run.Title + ")"
		if use.Step != "" {
			where = "step " + use.Step + " of " + where
		}
		if use.InTrash {
			where += ", in the trash"
		}
		p.Text("    submitted for ", page.Name(where))
	}
	for _, log := range uses.Elsewhere {
		p.Text("  ", "named in "+page.Argument(log))
	}
	if len(uses.Submitted)+len(uses.Elsewhere) == 0 {
		p.Line("  Nothing that could be read refers to it.")
	}
	for _, l := range uses.Unclear {
		p.Text("  "+p.Warn("!")+" ", page.Argument(l.Path)+" could not be read and may refer to it: "+l.Message)
	}
	p.Text("  Reason: ", page.Name(reason))
}
