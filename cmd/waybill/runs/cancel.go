package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/projections/runs"
)

// cancelLong is what 'waybill runs cancel --help' prints above the usage.
const cancelLong = `Close a run: it accepts no further steps. If a 'waybill run' is performing it, the
command of its step is stopped and that process closes the run; otherwise the run is
closed immediately. Recorded facts are kept. The call is idempotent.`

// newCancel returns "runs cancel". If another process performs the run, it records a request
// and that process closes the run; otherwise the run is closed immediately. For a run that is
// closed already it prints the status and is not an error.
func newCancel(a *cli.App) *cobra.Command {
	var req engine.CancelRequest
	return cli.WithOptions(&cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run, or close it as failed",
		Long:  cancelLong,
		Example: "  waybill runs cancel @last --reason \"Not needed any more\"\n" +
			"  waybill runs cancel k3j2a7 --failed --reason \"The release was withdrawn\"",
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "cancelled", func(ctx context.Context, o *cli.Store) (engine.Cancelled, error) {
				// @last is resolved to an id once, so that the call refers to
				// the same run even if another one starts meanwhile.
				at, err := o.Locate(ctx, args[0])
				if err != nil {
					return engine.Cancelled{}, err
				}
				// The performer lock shows whether another process performs the run.
				return o.Cancel(ctx, o.Caller(), o.Performers(), at, req)
			}, func(p *page.Page, done engine.Cancelled) {
				switch {
				// Another process performs the run and will close it.
				case done.Status == runs.Cancelling:
					p.Text(p.Warn("!")+" ", "Run "+page.ShortRun(done.RunID)+
						": cancellation requested; the performer will close the run.")
				case done.Already:
					p.Line("%s Run %s is already %s.", render.Mark(p, done.Status), page.ShortRun(done.RunID),
						render.Status(done.Status))
				default:
					p.Line("%s Run %s is %s.", p.Good("✓"), page.ShortRun(done.RunID), render.Status(done.Status))
				}
				render.Redactions(p, done.Redactions)
			})
		},
	},
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"),
		cli.Opt(&req.Failed, "failed", "close the run as failed instead of cancelled"))
}
