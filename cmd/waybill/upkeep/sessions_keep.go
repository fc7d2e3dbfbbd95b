package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// sessionsKeepLong is what 'waybill sessions keep --help' prints above the
// usage.
const sessionsKeepLong = `Keep a session: neither 'waybill gc' nor 'waybill sessions delete' takes it, however old
it grows. --off takes that back. Who kept it, when and why stays on record.`

// newSessionsKeep makes "sessions keep". A session that is kept is neither
// expired by gc nor deleted; --off ends that. To set what is set already
// changes nothing and is no error.
func newSessionsKeep(a *cli.App) *cobra.Command {
	var req engine.KeepRequest
	cmd := &cobra.Command{
		Use:   "keep SESSION|RUN",
		Short: "Keep a session from being cleaned up",
		Long:  sessionsKeepLong,
		Example: "  waybill sessions keep @last --reason \"The model for the next release\"\n" +
			"  waybill sessions keep k3j2a7 --off",
		Args: cli.Exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Ref = args[0]
			return cli.Show(a, cmd, "kept",
				func(ctx context.Context, o *cli.Store) (engine.KeptSession, error) {
					return o.KeepSession(ctx, a.Caller(), req)
				},
				func(p *page.Page, k engine.KeptSession) {
					state := "is kept"
					if !k.Kept {
						state = "is not kept"
					}
					if k.Already {
						p.Line("Session %s %s already.", k.SessionID, state)
						return
					}
					p.Line("%s Session %s %s.", p.Good("✓"), k.SessionID, state)
				})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Off, "off", false, "keep it no more")
	f.StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}
