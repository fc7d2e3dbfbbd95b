package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// newSessionsRestore makes "sessions restore". It moves a session out of the
// trash as it was. Of several with one id it is the one that was deleted last.
func newSessionsRestore(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "restore SESSION|RUN",
		Short: "Take a session back from the trash",
		Long: `Move a session out of the trash again, as it was. It is named by its id, by one of its
runs, or as the JSON document of 'waybill sessions list' names it; of several with one
id it is the one that was deleted last.`,
		Example: "  waybill sessions restore k3j2a7\n  waybill sessions list --trash",
		Args:    cli.Exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "restored",
				func(ctx context.Context, o *cli.Store) (engine.TrashedSession, error) {
					return o.RestoreSession(ctx, a.Caller(), args[0])
				},
				func(p *page.Page, t engine.TrashedSession) {
					p.Line("%s %s is back.", p.Good("✓"), page.Clean(titleOfRuns(t.Runs)))
					// What a cleanup took for its age would go with the next one again.
					p.Line("%s",
						p.Dim("To let no cleanup take it: "+a.Command("sessions", "keep", t.SessionID.String())))
				})
		},
	}
}
