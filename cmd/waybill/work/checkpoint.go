package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/advance"
)

// checkpointLong is what 'waybill checkpoint --help' prints above the usage.
const checkpointLong = `Record intermediate results of the pending step: notes, artifacts, or both. The step
stays pending. Its next performer, after a lost chat or on another day, sees them with
the step.

Programs name the step by the state and checkpoint tokens of the last answer; repeating
such a call returns the same answer and records nothing twice. People name the run with
--run; repeating that call records another checkpoint.`

// checkpointInput holds the flags of checkpoint. The pending step is named by run, or by state
// and token.
type checkpointInput struct {
	// the state and checkpoint tokens of one answer, for programs
	state string
	token string
	// the run, for people
	run   string
	given resultInput
}

// NewCheckpoint returns the command "checkpoint". It records notes and artifacts with the
// pending step, which stays pending. Calls with tokens are idempotent; --run creates the next
// checkpoint with each call.
func NewCheckpoint(a *cli.App) *cobra.Command {
	var in checkpointInput
	cmd := &cobra.Command{
		Use:     "checkpoint (--run RUN | --state TOKEN --token TOKEN) --notes TEXT",
		GroupID: cli.GroupRun,
		Short:   "Record intermediate results of the pending step",
		Long:    checkpointLong,
		Example: `  waybill checkpoint --run @last --notes "Half is read; next: the parser"
  waybill checkpoint --state st.v1.… --token chk.v1.… --notes-file n.md --json`,
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (in.run == "") == (in.state == ""):
				return cli.UsageFault(cmd, "'%s' needs --run, or --state and --token", cmd.CommandPath())
			case (in.state == "") != (in.token == ""):
				return cli.UsageFault(cmd, "--state and --token must be given together").
					Suggest("Send both tokens of the same answer.")
			}
			return in.record(cmd.Context(), a)
		},
	}
	cli.WithOptions(cmd,
		cli.Opt(&in.run, "run RUN", "record in RUN: its id, a prefix of the id, or @last"),
		cli.Opt(&in.state, "state TOKEN", "state TOKEN of an answer, which names the step"),
		cli.Opt(&in.token, "token TOKEN", "checkpoint TOKEN of the same answer"))
	in.given.flags(cmd, "notes on the work so far")
	return cmd
}

// record reads the input files, records the checkpoint and prints the answer. With --run it
// uses the next checkpoint id of the pending step, so that a repeated call records a second
// checkpoint. All input is read and checked before the store is opened.
func (in *checkpointInput) record(ctx context.Context, a *cli.App) error {
	req, err := in.given.request(a)
	if err != nil {
		return err
	}
	if err := advance.CheckCheckpoint(req); err != nil {
		return fault.Of(err).Suggest("Describe the work so far with --notes TEXT.")
	}
	return answerOf(ctx, a, func(o *cli.Store) (engine.Answer, error) {
		if in.state != "" {
			return o.Checkpoint(ctx, o.Caller(),
				engine.CheckpointCall{StateToken: in.state, CheckpointToken: in.token, Request: req})
		}
		// The answer for the pending step contains the id of the next checkpoint.
		_, answer, err := currentStep(ctx, o, in.run)
		if err != nil {
			return answer, err
		}
		if answer.Pending == nil {
			return answer, nothingPending(answer)
		}
		return o.CheckpointAt(ctx, o.Caller(), answer.Position(), answer.CheckpointID, req)
	}, showCheckpoint)
}

// showCheckpoint prints that the checkpoint is recorded and the command that continues the run.
// With --json it prints the whole step, because its tokens have changed.
func showCheckpoint(_ context.Context, a *cli.App, _ *cli.Store, answer engine.Answer) error {
	return printAnswer(a, answer, func(p *page.Page) {
		p.Line("%s Recorded with step %s.", p.Good("✓"), p.Bold(page.OneLine(answer.Pending.Title)))
		showWarnings(answer, p)
		p.Line("Next: %s", a.Command("continue", "--run", page.ShortRun(answer.Session.RunID)))
	})
}
