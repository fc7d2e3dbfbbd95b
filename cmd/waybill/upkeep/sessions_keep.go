package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/upkeep"
)

// sessionsKeepLong is what 'waybill sessions keep --help' prints above the
// usage.
const sessionsKeepLong = `Protect a session from 'waybill gc' and 'waybill sessions delete', regardless of its
age. --off removes the protection. Who changed it, when and why is recorded.`

// newSessionsKeep returns "sessions keep". A kept session is neither expired by gc
// nor deleted; --off ends that. A call that repeats the current state changes
// nothing and is no error.
func newSessionsKeep(a *cli.App) *cobra.Command {
	var req upkeep.KeepRequest
	return cli.WithOptions(&cobra.Command{
		Use:   "keep SESSION|RUN",
		Short: "Protect a session from gc and deletion",
		Long:  sessionsKeepLong,
		Example: "  waybill sessions keep @last --reason \"Reference for the next release\"\n" +
			"  waybill sessions keep k3j2a7 --off",
		Args: cli.Exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Ref = args[0]
			return cli.Show(a, cmd, "kept",
				func(ctx context.Context, o *cli.Store) (upkeep.KeptSession, error) {
					return o.KeepSession(ctx, o.Caller(), req)
				},
				func(p *page.Page, k upkeep.KeptSession) {
					state := "is kept"
					if !k.Kept {
						state = "is not kept"
					}
					if k.Already {
						p.Line("Session %s %s already.", k.SessionID, state)
					} else {
						p.Line("%s Session %s %s.", p.Good("✓"), k.SessionID, state)
					}
					render.Redactions(p, k.Redactions)
				})
		},
	},
		cli.Opt(&req.Off, "off", "remove the protection"),
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
}
