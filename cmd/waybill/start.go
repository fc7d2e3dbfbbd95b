package main

import (
	"github.com/spf13/cobra"
)

const startLong = `Begin a run of a workflow and show its first step. Nothing is carried out: that is
for whoever reads the answer, a person or an agent, who then says 'waybill continue'.
'waybill run' does both.

FILE is a path that ends in .json, .yaml or .yml or has a slash in it; anything else
is an ID, looked up among the bundled workflows, the user's and the project's
('waybill workflows list'). The run is pinned to the workflow as it is now: later
changes of the file do not reach it.

With --key the same start can be sent again: it answers what was recorded the first
time and begins nothing new.`

func newStartCommand(a *app) *cobra.Command {
	var in startInput
	cmd := &cobra.Command{
		Use:     "start FILE|ID",
		GroupID: groupWork,
		Short:   "Begin a run and show its first step",
		Long:    startLong,
		Example: `  waybill start wr.change_checklist --set change="Faster search"
  waybill start ./release.yaml --title "Release 2.4" --context release.json
  waybill start wr.demo --key nightly-2026-11-20 --json`,
		Args: exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			// The workflow and everything given is read and checked first: a refused
			// start makes no store.
			req, err := in.request(ctx, a, args[0])
			if err != nil {
				return err
			}
			seed, err := a.seed()
			if err != nil {
				return err
			}
			o, err := a.open(ctx)
			if err != nil {
				return err
			}
			defer o.close()
			answer, err := o.Start(ctx, a.caller(), seed, req)
			if err != nil {
				return err
			}
			return a.showAnswer(ctx, o, answer, false)
		},
	}
	in.flags(cmd)
	return cmd
}
