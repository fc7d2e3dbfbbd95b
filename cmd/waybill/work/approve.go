package work

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/ports"
)

// approveLong is what 'waybill approve --help' prints above the usage.
const approveLong = `Approve what a step holds that waits for a person's approval. What was handed in is
shown first, then you are asked. The approval counts for exactly that: other notes or
results need another one.

Approving is a person's decision: it needs a terminal, no flag answers for you, and no
agent can do it. The run goes on with the next attempt at the step.`

// NewApprove makes the command "approve". It takes no --yes: the approval is a
// person's at a terminal. Without RUN the latest run is meant. The run does not
// continue by itself; the command that continues it is printed.
func NewApprove(a *cli.App) *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use:     "approve [RUN]",
		GroupID: cli.GroupWork,
		Short:   "Approve a step that waits for a person",
		Long:    approveLong,
		Example: "  waybill approve @last\n  waybill approve k3j2a7 --comment \"Checked with the team\"",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runApprove(cmd.Context(), a, cli.RunArg(args), comment)
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "put `TEXT` on record with the approval")
	return cmd
}

// runApprove shows what was handed in for the pending step, asks, and records
// the approval. It is bound to the notes and artifacts that were shown: if
// another attempt changed them meanwhile, the engine refuses it. What cannot be
// approved is refused before the question.
func runApprove(ctx context.Context, a *cli.App, ref, comment string) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	at, err := o.Locate(ctx, ref)
	if err != nil {
		return err
	}
	// What cannot be approved is refused before the question.
	shown, err := o.Approvable(ctx, a.Caller(), at)
	if err != nil {
		return err
	}
	if shown.Approved {
		return approvedBefore(ctx, a, o, at)
	}
	// The same view as in 'run', so that a person sees the same.
	view := runview.New(runview.Options{In: a.In, Out: a.Err, Getenv: a.Getenv, NoColor: a.Flags.NoColor,
		Short: page.ShortRun})
	// An agent learns from the code that a person is needed.
	if !view.Present() {
		return fault.New(fault.RunWaiting, "step %q waits for a person's approval, and nobody is at a terminal here",
			shown.Step.Title).
			Suggest("A person runs 'waybill approve %s' at a terminal.", page.ShortRun(at.Run)).
			With("runId", at.Run.String()).With("stepId", shown.Step.StepID)
	}
	if err := askApproval(ctx, view, shown); err != nil {
		return err
	}
	answer, err := o.ApproveShown(ctx, a.Caller(), shown, comment)
	if err != nil {
		return err
	}
	return a.Answer(answer.Kind(), answer, func(p *page.Page) {
		p.Line("%s Approved: %s.", p.Good("✓"), page.Clean(shown.Step.Title))
		p.Line("Next: %s", a.Command("run", "--run", page.ShortRun(at.Run)))
	})
}

// approvedBefore prints that the step is approved already. It asks nothing,
// since there is nothing to add.
func approvedBefore(ctx context.Context, a *cli.App, o *cli.Store, at engine.Position) error {
	answer, err := o.Rehydrate(ctx, at)
	if err != nil {
		return err
	}
	return a.Answer(answer.Kind(), answer, func(p *page.Page) {
		p.Line("%s Approved already: %s.", p.Good("✓"), page.Clean(answer.Pending.Title))
		p.Line("Next: %s", a.Command("run", "--run", page.ShortRun(at.Run)))
	})
}

// askApproval shows the step and what the approval is bound to, in the same way
// as 'waybill run', and waits for a yes. nil: the person approves. A no, and
// the end of the input, are RUN_WAITING.
func askApproval(ctx context.Context, view *runview.View, shown engine.Approvable) error {
	view.RunOpened(perform.RunView{Run: shown.Position.Run, Workflow: shown.Workflow.Name})
	view.StepBegan(perform.StepView{Title: shown.Step.Title, Prompt: shown.Step.Prompt})
	yes, err := view.Approve(ctx, ports.ApproveQuestion{Notes: shown.Notes, Results: shown.Artifacts})
	if err != nil && !errors.Is(err, ports.ErrLeft) {
		return err
	}
	if !yes {
		return fault.New(fault.RunWaiting, "step %q is not approved", shown.Step.Title).Suggest("Nothing was recorded.")
	}
	return nil
}
