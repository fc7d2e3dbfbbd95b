package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
)

const replayLong = `Decide everything in a run's session once more, in memory, from what was handed in
each time, and compare the result with what is on record, byte by byte. The first
difference is shown. Nothing is written and no command is run.

A difference means that this version decides otherwise than the one that wrote the
record, or that a record was made by hand. Exit status 0 says that there is none,
5 that there is one.`

func newReplayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "replay [RUN]",
		GroupID: groupLook,
		Short:   "Decide a run's recorded inputs again, and compare",
		Long:    replayLong,
		Example: "  waybill replay @last\n  waybill replay k3j2a7 --json | jq .data.difference",
		Args:    atMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			at, err := o.Locate(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			report, err := o.Replay(cmd.Context(), at)
			if err != nil {
				return err
			}
			if err := a.answer("replay", report, func(p *page) { p.replay(report) }); err != nil || report.OK {
				return err
			}
			return exitWith(fault.ExitIntegrity)
		},
	}
}

func (p *page) replay(r engine.ReplayReport) {
	if d := r.Difference; d != nil {
		p.text(p.bad("✗")+" ", fmt.Sprintf("Event %d (%s) comes out otherwise: %s", d.EventIndex, d.Segment, d.Message))
		if d.Pointer != "" {
			p.text("  at ", d.Pointer)
		}
		p.text("  recorded  ", d.Expected)
		p.text("  decided   ", d.Got)
		return
	}
	p.text(p.good("✓")+" ", plural(int(r.Events), "event")+" came out the same, byte by byte.")
	if len(r.Undecided) > 0 {
		p.text(p.warn("! "), plural(len(r.Undecided), "attempt")+
			" could not be decided again: what was handed in is not all kept, since notes were cut or an artifact "+
			"was erased.")
	}
}
