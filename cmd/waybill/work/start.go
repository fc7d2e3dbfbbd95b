package work

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// startLong is what 'waybill start --help' prints above the usage.
const startLong = `Begin a run of a workflow and show its first step. Nothing is carried out: that is
for whoever reads the answer, a person or an agent, who then says 'waybill continue'.
'waybill run' does both.

FILE is a path that ends in .json, .yaml or .yml or has a slash in it; anything else
is an ID, looked up among the bundled workflows, the user's and the project's
('waybill workflows list'). The run is pinned to the workflow as it is now: later
changes of the file do not reach it.

With --key the same start can be sent again: it answers what was recorded the first
time and begins nothing new.`

// NewStart makes the command "start". It starts a run, prints its first step
// and performs nothing. With --key the same start again answers with the run
// that was started.
func NewStart(a *cli.App) *cobra.Command {
	var in startInput
	cmd := &cobra.Command{
		Use:     "start FILE|ID",
		GroupID: cli.GroupWork,
		Short:   "Begin a run and show its first step",
		Long:    startLong,
		Example: `  waybill start wr.change_checklist --set change="Faster search"
  waybill start ./release.yaml --title "Release 2.4" --context release.json
  waybill start wr.demo --key nightly-2026-11-20 --json`,
		Args: cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			// The workflow and everything given is read and checked first: a refused
			// start makes no store.
			req, err := in.request(ctx, a, args[0])
			if err != nil {
				return err
			}
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			o, err := a.Open(ctx)
			if err != nil {
				return err
			}
			defer o.Close()
			answer, err := o.Start(ctx, a.Caller(), seed, req)
			if err != nil {
				return err
			}
			return showAnswer(ctx, a, o, answer, false)
		},
	}
	in.flags(cmd)
	return cmd
}
