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
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// approveLong is what 'waybill approve --help' prints above the usage.
const approveLong = `Approve the submitted output of a step that waits for a person's approval. The output is
shown first; then you are asked. The approval is valid for exactly this output: different
notes or artifacts need a new approval.

Approvals cannot be automated: the command needs a terminal, has no flag that answers
for you, and is not available to agents. It does not continue the run; the next attempt
at the step does.`

// NewApprove returns the command "approve". It has no flag --yes: only a person at a terminal
// can approve. Without RUN it uses the latest run. The run does not continue by itself; the
// command that continues it is printed.
func NewApprove(a *cli.App) *cobra.Command {
	var comment, node string
	cmd := &cobra.Command{
		Use:     "approve [RUN]",
		GroupID: cli.GroupRun,
		Short:   "Approve the output of a step that needs an approval",
		Long:    approveLong,
		Example: "  waybill approve @last\n  waybill approve k3j2a7 --comment \"Checked with the team\"",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if node == "" && cmd.Flags().Changed("at") {
				return emptyAt()
			}
			return runApprove(cmd.Context(), a, cli.RunArg(args), node, comment)
		},
	}
	atFlag(cmd, &node)
	cmd.Flags().StringVar(&comment, "comment", "", "record `TEXT` with the approval")
	return cmd
}

// runApprove shows the submitted output of the pending step, asks the person, and records the
// approval. The approval is bound to the notes and artifacts that were shown: if another
// attempt has changed them meanwhile, the engine rejects it. node names the node, "" for the current one. Without a person at a terminal
// the error is RUN_WAITING.
func runApprove(ctx context.Context, a *cli.App, ref, node, comment string) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	at, err := locate(ctx, o, ref, node)
	if err != nil {
		return err
	}
	// A step that cannot be approved is rejected before the question.
	shown, err := o.Approvable(ctx, o.Caller(), at)
	if err != nil {
		return err
	}
	if shown.Approved {
		answer, err := o.Rehydrate(ctx, at)
		if err != nil {
			return err
		}
		return showApproval(a, answer, "Already approved", shown)
	}
	// The question looks the same as in 'waybill run'.
	store, err := a.StoreDir()
	if err != nil {
		return err
	}
	view := runview.New(runview.Options{In: a.In, Out: a.Err, Getenv: a.Getenv, NoColor: a.Flags.NoColor, Quiet: true,
		Consent: a.Consent(a.Colors(a.Err)), Store: store, Short: page.ShortRun})
	// The code tells an agent that a person is needed.
	if !view.CanConsent() {
		return fault.New(fault.RunWaiting, "step %q needs the approval of a person at a terminal",
			shown.Step.Title).
			Suggest("Ask a person to run %s at a terminal, without a pipe or a redirection.", fault.Command{"approve", page.ShortRun(at.Run)}).
			With("runId", at.Run.String()).With("stepId", shown.Step.StepID)
	}
	ctx, stop := interruptible(ctx, view)
	defer stop()
	defer view.KeepWritten()
	for {
		notes, err := askApproval(ctx, view, shown)
		if err != nil {
			return err
		}
		if notes == "" {
			break
		}
		// What is approved is what is shown last.
		if shown, err = submitNotes(ctx, a, o, at, notes); err != nil {
			return err
		}
	}
	// The engine compares the output again under the lock of the session.
	answer, err := o.ApproveShown(context.WithoutCancel(ctx), o.Caller(), shown, comment)
	if err != nil {
		return err
	}
	return showApproval(a, answer, "Approved", shown)
}

// submitNotes submits other notes for a step that waits for an approval and returns what can be
// approved then. Notes that the step does not accept are RUN_BLOCKED; they are recorded.
func submitNotes(ctx context.Context, a *cli.App, o *cli.Store, at engine.Position, notes string) (engine.Approvable, error) {
	now, err := o.Rehydrate(ctx, at)
	if err != nil {
		return engine.Approvable{}, err
	}
	now, err = o.Advance(context.WithoutCancel(ctx), o.Caller(), now.Position(), now.AttemptID,
		advance.Request{Notes: notes})
	if err != nil {
		return engine.Approvable{}, err
	}
	if !now.OutputsSubmitted() && len(now.Blockers) > 0 {
		return engine.Approvable{}, fault.New(fault.RunBlocked, "the new notes were not accepted. %s", now.Blockers[0].Message).
			Suggest("Continue with %s.", fault.Command{"run", "--run", page.ShortRun(at.Run)}).
			With("runId", at.Run.String()).With("blockers", now.Blockers)
	}
	return o.Approvable(ctx, o.Caller(), at)
}

// showApproval prints what is approved and the command that continues the run.
func showApproval(a *cli.App, answer engine.Answer, what string, shown engine.Approvable) error {
	return a.Answer(answer.Kind(), answer, func(p *page.Page) {
		p.Line("%s %s: %s.", p.Good("✓"), what, page.OneLine(shown.Step.Title))
		p.Line("Next: %s", a.Command("run", "--run", page.ShortRun(shown.Position.Run)))
	})
}

// askApproval shows the step and the output that the approval is bound to, in the same way as
// 'waybill run', and waits for an answer. Without an error the person approved, or wrote the
// returned notes, which have to be submitted first. A no and the end of the input are RUN_WAITING.
func askApproval(ctx context.Context, view *runview.View, shown engine.Approvable) (notes string, err error) {
	// Only the parts of the view that identify run and step; no step is performed.
	view.RunOpened(perform.RunView{Run: shown.Position.Run, Workflow: shown.Workflow.Name})
	view.StepBegan(perform.StepView{Title: shown.Step.Title, Prompt: shown.Step.Prompt})
	notes, answer, err := perform.AskApproval(ctx, view, shown)
	if err != nil && !errors.Is(err, ports.ErrPersonStopped) {
		return "", err
	}
	if err != nil || answer == ports.ApprovalRefused {
		return "", fault.New(fault.RunWaiting, "step %q is not approved", shown.Step.Title).
			Suggest("Nothing was recorded.")
	}
	return notes, nil
}
