package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/runview"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/ports"
)

const approveLong = `Approve what a step holds that waits for a person's approval. What was handed in is
shown first, then you are asked. The approval counts for exactly that: other notes or
results need another one.

Approving is a person's decision: it needs a terminal, no flag answers for you, and no
agent can do it. The run goes on with the next attempt at the step.`

func newApproveCommand(a *app) *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use:     "approve [RUN]",
		GroupID: groupWork,
		Short:   "Approve a step that waits for a person",
		Long:    approveLong,
		Example: "  waybill approve @last\n  waybill approve k3j2a7 --comment \"Checked with the team\"",
		Args:    atMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.approve(cmd.Context(), runArg(args), comment)
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "put `TEXT` on record with the approval")
	return cmd
}

func (a *app) approve(ctx context.Context, ref, comment string) error {
	o, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	at, err := o.Locate(ctx, ref)
	if err != nil {
		return err
	}
	// What cannot be approved is said before anybody is asked.
	shown, err := o.Approvable(ctx, a.caller(), at)
	if err != nil {
		return err
	}
	if shown.Approved {
		return a.approvedBefore(ctx, o, at)
	}
	view := runview.New(runview.Options{In: a.in, Out: a.errOut, Getenv: a.getenv, NoColor: a.common.noColor,
		Short: shortRun})
	if !view.Present() {
		return fault.New(fault.RunWaiting, "step %q waits for a person's approval, and nobody is at a terminal here",
			shown.Step.Title).
			Suggest("A person runs 'waybill approve %s' at a terminal.", shortRun(at.Run)).
			With("runId", at.Run.String()).With("stepId", shown.Step.StepID)
	}
	if err := askApproval(ctx, view, shown); err != nil {
		return err
	}
	answer, err := o.ApproveShown(ctx, a.caller(), shown, comment)
	if err != nil {
		return err
	}
	return a.answer(answer.Kind(), answer, func(p *page) {
		p.line("%s Approved: %s.", p.good("✓"), clean(shown.Step.Title))
		p.line("Next: %s", a.command("run", "--run", shortRun(at.Run)))
	})
}

// approvedBefore says so, and asks nobody: there is nothing to add.
func (a *app) approvedBefore(ctx context.Context, o *opened, at engine.Position) error {
	answer, err := o.Rehydrate(ctx, at)
	if err != nil {
		return err
	}
	return a.answer(answer.Kind(), answer, func(p *page) {
		p.line("%s Approved already: %s.", p.good("✓"), clean(answer.Pending.Title))
		p.line("Next: %s", a.command("run", "--run", shortRun(at.Run)))
	})
}

// askApproval shows the step and what the approval is bound to, as 'waybill run'
// does, and waits for a yes.
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
