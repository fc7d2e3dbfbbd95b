package upkeep

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
)

// artifactsEraseLong is what 'waybill artifacts erase --help' prints above the
// usage.
const artifactsEraseLong = `Remove the bytes of an artifact for good, as when a secret was handed in. What the logs
say about it stays: its kind, its length and its digest, and from now on who erased it,
when and why. Every session that has it loses it, and the same bytes handed in again are
not kept either. Copies outside of this store, exported bundles among them, are not
touched.

At a terminal you are asked first; without one --yes has to say so.`

// NewArtifacts makes the command "artifacts" with its one subcommand.
func NewArtifacts(a *cli.App) *cobra.Command {
	return cli.NewGroup("artifacts", cli.GroupStore, "Erase what was handed in",
		"An artifact is what a step handed in, kept as a file under the digest of its bytes.",
		newArtifactsErase(a))
}

// newArtifactsErase makes "artifacts erase". It removes the bytes of an
// artifact from the whole store and leaves a tombstone with the reason; events
// keep the digest, so that the log stays verifiable.
//
// Whether the artifact can be erased is checked before the question. --reason
// is required, since it is all that remains. To erase the same artifact again
// is an answer and no error.
func newArtifactsErase(a *cli.App) *cobra.Command {
	var reason string
	var yes bool
	cmd := &cobra.Command{
		Use:   "erase DIGEST --reason TEXT",
		Short: "Remove the bytes of an artifact for good",
		Long:  artifactsEraseLong,
		Example: "  waybill artifacts erase sha256:9f86d0… --reason \"It held a password\"\n" +
			"  waybill runs events @last --json | jq -r '.data.events[].data.payload.sha256 // empty'",
		Args: cli.Exactly("DIGEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// A digest must be whole: what is removed must not be a guess.
			ref, err := canon.ParseDigest(args[0])
			if err != nil {
				return cli.UsageFault(cmd, "%q is no digest: %v", args[0], err).
					Suggest("Give it whole, as 'waybill runs events RUN' shows it: sha256: and 64 digits.")
			}
			if reason == "" {
				return cli.UsageFault(cmd, "'%s' needs --reason: it is all that is left of the artifact",
					cmd.CommandPath())
			}
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			// What cannot be erased is refused before the question.
			if err := o.Erasable(cmd.Context(), ref); err != nil {
				return err
			}
			if err := a.Confirm(yes, "Erase its bytes for good?", func(p *page.Page) { p.Line("%s", ref) }); err != nil {
				return err
			}
			e, err := o.EraseArtifact(cmd.Context(), a.Caller(), ref, reason)
			if err != nil {
				return err
			}
			return a.Answer("erased", e, func(p *page.Page) {
				if e.Already {
					p.Line("It was erased before; what was left of it is gone.")
					return
				}
				p.Line("%s %s erased for good.", p.Good("✓"), page.Size(e.Bytes))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "", "put `TEXT` on record: why it is gone")
	f.BoolVar(&yes, "yes", false, "do it without being asked")
	return cmd
}
