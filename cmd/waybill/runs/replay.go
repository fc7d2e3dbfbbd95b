package runs

import (
	"context"

	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
)

// replayLong is what 'waybill replay --help' prints above the usage.
const replayLong = `Re-execute the engine's decisions of a run's session in memory, from the recorded inputs,
and compare the resulting events with the recorded ones byte by byte. The first
difference is printed. Nothing is written and no command is run.

A difference means that this version of Waybill decides differently than the version that
wrote the log, or that a record was forged. Exit status 0: no difference; 5: a difference
was found.`

// NewReplay returns the command "replay". It re-executes the recorded inputs of the session of
// a run and compares the result with the log byte by byte. It only reads; a difference ends
// with exit status 5.
//
// A difference means that this version decides differently than the one that wrote the log, or
// that the log was changed together with its digests.
func NewReplay(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "replay [RUN]",
		GroupID: cli.GroupInspect,
		Short:   "Re-execute a run's recorded inputs and compare the results",
		Long:    replayLong,
		Example: "  waybill replay @last\n  waybill replay k3j2a7 --json | jq .data.difference",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.ShowVerdict(a, cmd, "replay",
				func(ctx context.Context, o *cli.Store) (verify.ReplayReport, error) {
					at, err := o.Locate(ctx, cli.RunArg(args))
					if err != nil {
						return verify.ReplayReport{}, err
					}
					return o.Replay(ctx, at)
				},
				showReplay,
				func(r verify.ReplayReport) int { return cli.IntegrityStatus(r.OK) })
		},
	}
}

// showReplay prints the first difference with the recorded and the new value, or the number of
// events that were compared.
func showReplay(p *page.Page, r verify.ReplayReport) {
	// The comparison ends at the first difference, since later events depend on it.
	if d := r.Difference; d != nil {
		p.Text(p.Bad("✗")+" ", fmt.Sprintf("Event %d (%s) differs: %s", d.EventIndex, d.Segment, d.Message))
		if d.Pointer != "" {
			p.Text("  at ", d.Pointer)
		}
		p.Text("  recorded  ", d.Expected)
		p.Text("  replayed  ", d.Got)
		return
	}
	p.Text(p.Good("✓")+" ", page.Plural(int(r.Events), "event")+" compared: no difference.")
	// Attempts that cannot be replayed are not a difference.
	if len(r.Undecided) > 0 {
		p.Text(p.Warn("! "), page.Plural(len(r.Undecided), "attempt")+
			" could not be replayed: the submitted output is incomplete, because notes were truncated or an "+
			"artifact was erased.")
	}
}
