package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
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
	if !a.isTerminal(a.in) || a.common.json {
		return fault.New(fault.RunWaiting, "step %q waits for a person's approval, and nobody is at a terminal here", shown.Step.Title).
			Suggest("A person runs 'waybill approve %s' at a terminal.", shortRun(at.Run)).With("runId", at.Run.String()).With("stepId", shown.Step.StepID)
	}
	if err := a.askApproval(shown); err != nil {
		return err
	}
	answer, err := o.Approve(ctx, a.caller(), at, comment)
	if err != nil {
		return err
	}
	return a.answer(answer.Kind(), answer, func(p *page) {
		p.line("%s Approved: %s.", p.good("✓"), clean(shown.Step.Title))
		p.line("Next: %s", a.command("run", "--run", shortRun(at.Run)))
	})
}

// askApproval shows what the approval is bound to, and waits for a yes.
func (a *app) askApproval(shown engine.Approvable) error {
	p := a.newPage(a.errOut)
	p.facts(clean(shown.Workflow.Name), shown.Position.Run.String())
	p.line("%s", p.bold(clean(shown.Step.Title)))
	p.line("")
	p.text("  ", shown.Step.Prompt)
	p.line("")
	switch {
	case shown.Notes == "" && len(shown.Artifacts) == 0:
		p.line("%s", p.warn("Nothing was handed in for this step yet."))
	default:
		p.line("%s", p.bold("Handed in"))
		if shown.Notes != "" {
			p.text("  ", shown.Notes)
		}
		for _, o := range shown.Artifacts {
			p.line("  %s  %s", p.dim(o.Name), clean(o.Text))
		}
	}
	p.line("")
	p.WriteString("Approve it? [y/N] ")
	_, _ = a.errOut.Write(p.Bytes())
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return fault.New(fault.RunWaiting, "step %q is not approved", shown.Step.Title).Suggest("Nothing was recorded.")
	}
	return nil
}
