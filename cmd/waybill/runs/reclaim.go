package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/travel"
)

// reclaimLong is what 'waybill runs take-back --help' prints above the usage.
const reclaimLong = `Continue a session in this store that 'waybill export --hand-over' handed over to another
one. What the other store adds from now on, or added already, does not continue the session
here: its bundle is refused as diverged. To continue with it, import the bundle that comes
home instead.`

// newReclaim returns "runs take-back".
func newReclaim(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "take-back RUN",
		Short:   "Revoke the hand-over of a session",
		Long:    reclaimLong,
		Example: "  waybill runs take-back @last\n  waybill runs take-back k3j2a7",
		Args:    cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "taken_back", func(ctx context.Context, o *cli.Store) (travel.HandedOver, error) {
				return o.Reclaim(ctx, o.Caller(), args[0])
			}, func(p *page.Page, done travel.HandedOver) {
				p.Line("%s Session %s continues here.", p.Good("✓"), done.SessionID)
			})
		},
	}
}
