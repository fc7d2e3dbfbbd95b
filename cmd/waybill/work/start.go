package work

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
)

// startLong is what 'waybill start --help' prints above the usage.
const startLong = `Start a run of a workflow and show its first step. No command is executed: the reader of
the answer, a person or an agent, performs the step and submits its output with
'waybill continue'. 'waybill run' starts a run and performs it.

FILE is a path that ends in .json, .yaml or .yml or contains a slash; any other argument
is the ID of a bundled, attached, installed, user or project workflow, see
'waybill workflows list'.
The run is pinned to the present version of the workflow: later changes of the file do
not affect it.

With --key the call is idempotent: repeating it returns the recorded answer and starts
no second run. A key of an imported session, or of a run of another workflow, is refused
with exit status 2, and so is a new key that begins with automation/.`

// NewStart returns the command "start". It starts a run and prints its first step, and performs
// nothing. With --key, repeating the same start returns the run that was started.
func NewStart(a *cli.App) *cobra.Command {
	var in startInput
	cmd := &cobra.Command{
		Use:     "start FILE|ID",
		GroupID: cli.GroupRun,
		Short:   "Start a run and show its first step",
		Long:    startLong,
		Example: `  waybill start wr.change_checklist --set change="Faster search"
  waybill start ./release.yaml --title "Release 2.4" --context release.json
  waybill start wr.demo --key nightly-2026-11-20 --json`,
		Args: cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			// The workflow and all input is read and checked first, so that a rejected
			// start does not create a store.
			req, err := in.request(ctx, a, args[0])
			if err != nil {
				return err
			}
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			return answerOf(ctx, a, func(o *cli.Store) (engine.Answer, error) {
				answer, err := o.Start(ctx, o.Caller(), seed, req)
				answer.Warnings = append(answer.Warnings, in.named...)
				return answer, err
			}, showStep)
		},
	}
	in.flags(cmd)
	return cmd
}
