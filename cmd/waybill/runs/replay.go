package runs

import (
	"context"

	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// replayLong is what 'waybill replay --help' prints above the usage.
const replayLong = `Decide everything in a run's session once more, in memory, from what was handed in
each time, and compare the result with what is on record, byte by byte. The first
difference is shown. Nothing is written and no command is run.

A difference means that this version decides otherwise than the one that wrote the
record, or that a record was made by hand. Exit status 0 says that there is none,
5 that there is one.`

// NewReplay makes the command "replay". It decides the recorded inputs of a run
// again and compares the result with the log byte by byte. It only reads; a
// difference ends with exit status 5.
//
// A difference means that this version decides otherwise than the one that
// wrote the log, or that the log was changed by a program that kept its digests
// right.
func NewReplay(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "replay [RUN]",
		GroupID: cli.GroupLook,
		Short:   "Decide a run's recorded inputs again, and compare",
		Long:    replayLong,
		Example: "  waybill replay @last\n  waybill replay k3j2a7 --json | jq .data.difference",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.ShowVerdict(a, cmd, "replay",
				func(ctx context.Context, o *cli.Store) (engine.ReplayReport, error) {
					at, err := o.Locate(ctx, cli.RunArg(args))
					if err != nil {
						return engine.ReplayReport{}, err
					}
					return o.Replay(ctx, at)
				},
				showReplay,
				func(r engine.ReplayReport) int { return cli.IntegrityUnless(r.OK) })
		},
	}
}

// showReplay prints the first difference with what is recorded and what was
// decided now, or how much was compared.
func showReplay(p *page.Page, r engine.ReplayReport) {
	// Only the first difference is known: what follows depends on it.
	if d := r.Difference; d != nil {
		p.Text(p.Bad("✗")+" ", fmt.Sprintf("Event %d (%s) comes out otherwise: %s", d.EventIndex, d.Segment, d.Message))
		if d.Pointer != "" {
			p.Text("  at ", d.Pointer)
		}
		p.Text("  recorded  ", d.Expected)
		p.Text("  decided   ", d.Got)
		return
	}
	p.Text(p.Good("✓")+" ", page.Plural(int(r.Events), "event")+" came out the same, byte by byte.")
	if len(r.Undecided) > 0 {
		p.Text(p.Warn("! "), page.Plural(len(r.Undecided), "attempt")+
			" could not be decided again: what was handed in is not all kept, since notes were cut or an artifact "+
			"was erased.")
	}
}
