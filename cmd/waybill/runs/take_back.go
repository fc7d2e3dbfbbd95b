package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/travel"
)

const takeBackLong = `Continue a session in this store that 'waybill export --hand-over' handed over to another
one. What the other store adds from now on, or added already, does not continue the session
here: its bundle is refused as diverged. To continue with it, import the bundle that comes
home instead.`

// newTakeBack returns "runs take-back".
func newTakeBack(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "take-back RUN",
		Short:   "Take back a session that was handed over",
		Long:    takeBackLong,
		Example: "  waybill runs take-back @last\n  waybill runs take-back k3j2a7",
		Args:    cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "taken_back", func(ctx context.Context, o *cli.Store) (travel.HandedOver, error) {
				return o.TakeBack(ctx, o.Caller(), args[0])
			}, func(p *page.Page, done travel.HandedOver) {
				p.Line("%s Session %s continues here.", p.Good("✓"), done.SessionID)
			})
		},
	}
}
