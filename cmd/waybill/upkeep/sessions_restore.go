package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/upkeep"
)

// newSessionsRestore returns "sessions restore". It moves a session out of the
// trash, unchanged. If several deleted sessions have the same id, the one that was
// deleted last is restored.
func newSessionsRestore(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "restore SESSION|RUN",
		Short: "Restore a session from the trash",
		Long: `Move a session out of the trash, unchanged. The argument is its id, one of its runs, or
the name in the JSON document of 'waybill sessions list'. If several deleted sessions
have the same id, the one that was deleted last is restored.`,
		Example: "  waybill sessions restore k3j2a7\n  waybill sessions list --trash",
		Args:    cli.Exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "restored",
				func(ctx context.Context, o *cli.Store) (upkeep.TrashedSession, error) {
					return o.RestoreSession(ctx, o.Caller(), args[0])
				},
				func(p *page.Page, t upkeep.TrashedSession) {
					p.Line("%s %s is restored.", p.Good("✓"), page.OneLine(titleOfRuns(t.Runs)))
					// The next gc would expire an old session again.
					p.Line("%s",
						p.Dim("Protect it from gc: "+a.Command("sessions", "keep", t.SessionID.String())))
				})
		},
	}
}
