package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/projections"
)

// cancelLong is what 'waybill runs cancel --help' prints above the usage.
const cancelLong = `End a run for good: it takes no further steps. Where 'waybill run' carries it out at
this moment, its command is stopped and it closes the run; else the run is closed at
once. What is on record stays. The same call again changes nothing.`

// newCancel makes "runs cancel". Where another process performs the run, it
// records a request and that process closes the run; otherwise the run is
// closed at once. A run that is closed already is an answer and no error.
func newCancel(a *cli.App) *cobra.Command {
	var req engine.CancelRequest
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run for good",
		Long:  cancelLong,
		Example: "  waybill runs cancel @last --reason \"Not needed any more\"\n" +
			"  waybill runs cancel k3j2a7 --failed --reason \"The release was withdrawn\"",
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "cancelled", func(ctx context.Context, o *cli.Store) (engine.Cancelled, error) {
				// The run is resolved to an id first; the call then is
				// about that run, whatever is latest by now.
				at, err := o.Locate(ctx, args[0])
				if err != nil {
					return engine.Cancelled{}, err
				}
				return o.Cancel(ctx, a.Caller(), o.Performers(), at, req)
			}, func(p *page.Page, done engine.Cancelled) {
				switch {
				// Another process performs the run and closes it.
				case done.Status == projections.Cancelling:
					p.Text(p.Warn("!")+" ", "Run "+page.ShortRun(done.RunID)+
						" is told to stop; whoever carries it out closes it.")
				case done.Already:
					p.Line("%s Run %s is %s already.", render.Mark(p, done.Status), page.ShortRun(done.RunID),
						render.Status(done.Status))
				default:
					p.Line("%s Run %s is %s.", p.Good("✓"), page.ShortRun(done.RunID), render.Status(done.Status))
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	f.BoolVar(&req.Failed, "failed", false, "let the run count as failed instead of cancelled")
	return cmd
}
