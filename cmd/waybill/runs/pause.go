package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
)

// pauseLong is what 'waybill runs pause --help' prints above the usage.
const pauseLong = `Pause a run: it takes no steps until it is resumed, from any caller. A command that
is running is not stopped: its result is recorded, and the run holds at the next step.
What was asked of the run before counts after it is resumed. It can be cancelled and
forked; a fork is not paused. The call is idempotent.`

// resumeLong is what 'waybill runs resume --help' prints above the usage.
const resumeLong = `Resume a paused run: its pending step is performed and accepted again. A server that
performs the run continues by itself; continue another one with the command shown. The
call is idempotent.`

// newPause returns "runs pause".
func newPause(a *cli.App) *cobra.Command {
	var req pausing.Request
	return cli.WithOptions(&cobra.Command{
		Use:   "pause RUN",
		Short: "Pause a run until it is resumed",
		Long:  pauseLong,
		Example: "  waybill runs pause @last --reason \"The build machine is being repaired\"\n" +
			"  waybill runs pause k3j2a7",
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "paused", held(args[0], &req, pausing.Pauses.Pause), func(p *page.Page, s pausing.State) {
				word := "is paused"
				switch {
				case s.Paused.Drain:
					word = "is paused after its current step"
				case s.Already:
					word = "is already paused"
				}
				p.Text(p.Good("✓")+" ", "Run "+page.ShortRun(s.RunID)+" "+word+": "+page.OneLine(s.Paused.Reason))
				p.Line("  Resume it with %s", a.Command("runs", "resume", page.ShortRun(s.RunID)))
				render.Redactions(p, s.Redactions)
			})
		},
	},
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
}

// newResume returns "runs resume".
func newResume(a *cli.App) *cobra.Command {
	var req pausing.Request
	return cli.WithOptions(&cobra.Command{
		Use:     "resume RUN",
		Short:   "Resume a paused run",
		Long:    resumeLong,
		Example: "  waybill runs resume @last\n  waybill runs resume k3j2a7",
		Args:    cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "resumed", held(args[0], &req, pausing.Pauses.Resume), func(p *page.Page, s pausing.State) {
				word := "is resumed"
				if s.Already {
					word = "is not paused"
				}
				p.Line("%s Run %s %s.", p.Good("✓"), page.ShortRun(s.RunID), word)
				p.Line("  Continue it with %s", a.Command("run", "--run", page.ShortRun(s.RunID)))
			})
		},
	})
}

// held returns the call that pauses or resumes a run. @last is resolved to an id once.
func held(ref string, req *pausing.Request,
	call func(pausing.Pauses, context.Context, engine.Caller, engine.Position, pausing.Request) (pausing.State, error)) func(
	context.Context, *cli.Store) (pausing.State, error) {
	return func(ctx context.Context, o *cli.Store) (pausing.State, error) {
		at, err := o.Locate(ctx, ref)
		if err != nil {
			return pausing.State{}, err
		}
		return call(o.Pauses, ctx, o.Caller(), at, *req)
	}
}
