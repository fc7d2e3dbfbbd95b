package work

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/cmd/waybill/work/runview"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// approveLong is what 'waybill approve --help' prints above the usage.
const approveLong = `Approve the submitted output of a step that waits for a person's approval. The output is
shown first; then you are asked. The approval is valid for exactly this output: different
notes or artifacts need a new approval. You can also answer that the step is sent back, or
denied.

Approvals cannot be automated: the command needs a terminal, has no flag that answers
for you, and is not available to agents. It does not continue the run; the next attempt
at the step does. If the step needs the approvals of several people, the exit status is 3
until enough of them approved.

` + cli.SigningHelp

// decideLong is the end of the long help of send-back and deny.
const decideLong = `

The command needs a terminal, like 'waybill approve': what is decided about is shown first, then
you are asked. The decision and its reason are recorded in the run's log and in the audit log.

` + cli.SigningHelp

// NewApprove returns the command "approve". It has no flag --yes: only a person at a terminal
// can approve. Without RUN it uses the latest run. The run does not continue by itself; the
// command that continues it is printed.
func NewApprove(a *cli.App) *cobra.Command {
	d := decideCommand{app: a, word: event.Approved, answer: ports.ApprovalGiven}
	cmd := d.command("approve [RUN]", "Approve the output of a step that needs an approval", approveLong,
		"  waybill approve @last\n  waybill approve k3j2a7 --comment \"Checked with the team\"")
	cli.WithOptions(cmd, cli.Opt(&d.text, "comment TEXT", "record TEXT with the approval"))
	return cmd
}

// NewSendBack returns the command "send-back": a person returns a step that waits for an approval,
// with the reason, to the one who performs it.
func NewSendBack(a *cli.App) *cobra.Command {
	d := decideCommand{app: a, word: event.SentBack, answer: ports.ApprovalSentBack}
	cmd := d.command("send-back [RUN]", "Send a step back with what has to change",
		"Send back a step that waits for a person's approval, with what has to change. The next\n"+
			"performer of the step is shown your words. The same output is not accepted again, unless a person approves it."+decideLong,
		"  waybill send-back @last --reason \"The plan lacks a way back\"\n"+
			"  waybill send-back k3j2a7 --reason \"Name the owner of each service\"")
	d.reasonFlag(cmd)
	return cmd
}

// NewDeny returns the command "deny": a person refuses a step that waits for an approval, which ends
// the run as failed.
func NewDeny(a *cli.App) *cobra.Command {
	d := decideCommand{app: a, word: event.Denied, answer: ports.ApprovalDenied}
	cmd := d.command("deny [RUN]", "Deny a step and end its run as failed",
		"Deny a step that waits for a person's approval. The run ends as failed; everything that was recorded\n"+
			"stays readable."+decideLong,
		"  waybill deny @last --reason \"The change is not wanted any more\"\n"+
			"  waybill deny k3j2a7 --reason \"The license does not allow it\"")
	d.reasonFlag(cmd)
	return cmd
}

// decideCommand is one of the commands with which a person decides about a step.
type decideCommand struct {
	app    *cli.App
	word   event.DecisionWord
	answer ports.ApprovalAnswer
	text   string // the reason, or the comment of an approval
	node   string
	sign   cli.Signing
}

// command builds the command. Without RUN it uses the latest run.
func (d *decideCommand) command(use, short, long, example string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     use,
		GroupID: cli.GroupRun,
		Short:   short,
		Long:    long,
		Example: example,
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.sign.Finish(d.run(cmd.Context(), cli.RunArg(args)))
		},
	}
	atFlag(cmd, &d.node)
	d.sign.AddFlags(d.app, cmd)
	return cmd
}

// reasonFlag adds --reason, which is required.
func (d *decideCommand) reasonFlag(cmd *cobra.Command) {
	cli.WithOptions(cmd, cli.Opt(&d.text, "reason TEXT",
		"the reason: TEXT for the one who performs the step and for the log"))
}

// run shows the submitted output of the pending step, asks the person, and records the
// decision. It is bound to the notes and artifacts that were shown: if another
// attempt has changed them meanwhile, the engine rejects it. Without a person at a terminal
// the error is RUN_WAITING, and the audit log records the refusal.
func (d *decideCommand) run(ctx context.Context, ref string) error {
	a := d.app
	if err := advance.CheckReason(d.word, d.text); err != nil {
		return err
	}
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	at, err := locate(ctx, o, ref, d.node)
	if err != nil {
		return err
	}
	// A step that cannot be decided about is rejected before the question.
	shown, err := o.Approvable(ctx, o.Caller(), at)
	if err != nil {
		return err
	}
	if d.sign.Given() {
		return d.runSigned(ctx, o, at, shown)
	}
	if shown.Approved && d.word == event.Approved {
		answer, err := o.Rehydrate(ctx, at)
		if err != nil {
			return err
		}
		return d.show(answer, "Already approved", shown)
	}
	if err := d.sign.Check(ctx, o); err != nil {
		return o.RefuseDecision(ctx, o.Caller(), at, d.word, err)
	}
	view, err := d.view(o, shown)
	if err != nil {
		return err
	}
	// A person who may not decide is not asked.
	if err := o.MayDecide(ctx, o.Caller(), shown, d.word); err != nil {
		return o.RefuseDecision(ctx, o.Caller(), at, d.word, err)
	}
	ctx, stop := interruptible(ctx, view)
	defer stop()
	defer view.KeepWritten()
	var given perform.Judgement
	for {
		if given, err = d.ask(ctx, view, shown); err != nil {
			return err
		}
		if given.Answer != ports.ApprovalEdit {
			break
		}
		// What is decided about is what is shown last.
		if shown, err = submitNotes(ctx, a, o, at, given.Notes); err != nil {
			return err
		}
		// The person performed the step with them.
		if err := o.MayDecide(ctx, o.Caller(), shown, d.word); err != nil {
			return o.RefuseDecision(ctx, o.Caller(), at, d.word, err)
		}
	}
	word, _ := given.Word()
	// The engine compares the output again under the lock of the session.
	answer, err := o.Decide(context.WithoutCancel(ctx), o.Caller(), shown, word, given.Reason)
	if err != nil {
		return err
	}
	return d.show(answer, decided[word], shown)
}

// runSigned decides with a signed consent. At a terminal the person is asked before it is signed there; what
// is signed elsewhere, or without a terminal, is the answer itself.
func (d *decideCommand) runSigned(ctx context.Context, o *cli.Store, at engine.Position, shown engine.Approvable) error {
	if err := o.MayDecide(ctx, d.sign.Caller(o), shown, d.word); err != nil {
		return o.RefuseDecision(ctx, o.Caller(), at, d.word, err)
	}
	text := d.text
	if d.sign.Asks() {
		view, err := d.view(o, shown)
		if err != nil {
			return err
		}
		given, err := d.ask(ctx, view, shown)
		view.KeepWritten()
		if err != nil {
			return err
		}
		if word, ok := given.Word(); !ok || word != d.word {
			return fault.New(fault.RunWaiting, "only the answer %s can be signed here", decided[d.word]).
				Suggest("Nothing was recorded. Use the command of the other decision, with its own signature.")
		}
		text = given.Reason
	}
	answer, err := o.Decide(context.WithoutCancel(ctx), d.sign.Caller(o), shown, d.word, text)
	if err != nil {
		return err
	}
	return d.show(answer, decided[d.word], shown)
}

// decided are the words for what was recorded.
var decided = map[event.DecisionWord]string{event.Approved: "Approved", event.SentBack: "Sent back", event.Denied: "Denied"}

// view returns the view of the question, which looks the same as in 'waybill run'. RUN_WAITING without
// a person at a terminal: the code tells an agent that a person is needed.
func (d *decideCommand) view(o *cli.Store, shown engine.Approvable) (*runview.View, error) {
	a := d.app
	store, err := a.StoreName()
	if err != nil {
		return nil, err
	}
	view := runview.New(runview.Options{In: a.In, Out: a.Err, Getenv: a.Getenv, NoColor: a.Flags.NoColor, Quiet: true,
		Consent: a.Consent(a.Colors(a.Err)), Store: store, Short: page.ShortRun})
	if view.CanConsent() {
		return view, nil
	}
	err = fault.New(fault.RunWaiting, "step %q needs the approval of a person at a terminal", shown.Step.Title).
		Suggest("Ask a person to run %s at a terminal, without a pipe or a redirection.", d.again(shown)).
		With("runId", shown.Position.Run.String()).With("stepId", shown.Step.StepID)
	return nil, o.RefuseDecision(context.Background(), o.Caller(), shown.Position, d.word, err)
}

// again is the command that asks for the decision again.
func (d *decideCommand) again(shown engine.Approvable) fault.Command {
	run := page.ShortRun(shown.Position.Run)
	return map[event.DecisionWord]fault.Command{event.Approved: {"approve", run},
		event.SentBack: {"send-back", run, "--reason", "TEXT"}, event.Denied: {"deny", run, "--reason", "TEXT"}}[d.word]
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

// show prints what is decided and the command that continues the run. An approval that waits for
// those of others is RUN_WAITING.
func (d *decideCommand) show(answer engine.Answer, what string, shown engine.Approvable) error {
	a, run := d.app, page.ShortRun(shown.Position.Run)
	err := a.Answer(answer.Kind(), answer, func(p *page.Page) {
		p.Line("%s %s: %s.", p.Good("✓"), what, page.OneLine(shown.Step.Title))
		render.Redactions(p, answer.Redactions)
		switch needed := answer.StillNeeded(); {
		case what == decided[event.Denied]:
			p.Line("The run has failed.")
			p.Line("See it with: %s", a.Command("runs", "show", run))
		case needed != "" && what != decided[event.SentBack]:
			p.Text("", "Still needed: "+needed+".")
		default:
			p.Line("Next: %s", a.Command("run", "--run", run))
		}
	})
	if err == nil && what == decided[event.Approved] && answer.StillNeeded() != "" {
		return cli.ExitWith(fault.ExitWaiting)
	}
	return err
}

// ask shows the step and the output that the decision is bound to, in the same way as
// 'waybill run', and waits for an answer. Without an error the person decided, or wrote
// notes, which have to be submitted first. A no and the end of the input are RUN_WAITING.
func (d *decideCommand) ask(ctx context.Context, view *runview.View, shown engine.Approvable) (perform.Judgement, error) {
	// Only the parts of the view that identify run and step; no step is performed.
	view.RunOpened(perform.RunView{Run: shown.Position.Run, Workflow: shown.Workflow.Name})
	view.StepBegan(perform.StepView{Title: shown.Step.Title, Prompt: shown.Step.Prompt})
	only := perform.Judgement{Reason: d.text}
	if d.word != event.Approved {
		only.Answer = d.answer
	}
	given, err := perform.AskApproval(ctx, view, shown, only)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return given, perform.InterruptedAtQuestion(shown, d.again(shown))
	}
	if err != nil && !errors.Is(err, ports.ErrPersonStopped) {
		return given, err
	}
	if err != nil || given.Answer == ports.ApprovalRefused {
		return given, fault.New(fault.RunWaiting, "step %q is not %s", shown.Step.Title,
			map[event.DecisionWord]string{event.Approved: "approved", event.SentBack: "sent back", event.Denied: "denied"}[d.word]).
			Suggest("Nothing was recorded.")
	}
	return given, nil
}
