package work

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// answerOf opens the store, asks it for an answer and shows that. The store is open while show runs.
func answerOf(ctx context.Context, a *cli.App, ask func(*cli.Store) (engine.Answer, error),
	show func(context.Context, *cli.App, *cli.Store, engine.Answer) error) error {
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	answer, err := ask(o)
	if err != nil {
		return err
	}
	// The commands of the answer must use the same store when they are copied.
	return show(ctx, a, o, a.AnswerOfStore(answer))
}

// currentStep returns the position of a run and the answer for the node there.
func currentStep(ctx context.Context, o *cli.Store, run string) (engine.Position, engine.Answer, error) {
	at, err := o.Locate(ctx, run)
	if err != nil {
		return at, engine.Answer{}, err
	}
	answer, err := o.Rehydrate(ctx, at)
	return at, answer, err
}

// stepAt returns the answer for a node of a run, the current one if ref is "". A checkpoint is taken
// for the step at which it was recorded (docs/design.md#edges-and-tips).
func stepAt(ctx context.Context, o *cli.Store, run, ref string) (engine.Answer, error) {
	at, err := locate(ctx, o, run, ref)
	if err != nil {
		return engine.Answer{}, err
	}
	return o.Rehydrate(ctx, at)
}

// locate returns the position of a node of a run, the current one if ref is "".
func locate(ctx context.Context, o *cli.Store, run, ref string) (engine.Position, error) {
	if ref == "" {
		return o.Locate(ctx, run)
	}
	return o.LocateNode(ctx, run, ref)
}

// isBehind reports whether an answer is about a node that is not the current one of its run. It
// is false for a run that cannot be located.
func isBehind(ctx context.Context, o *cli.Store, answer engine.Answer) bool {
	at, err := o.Locate(ctx, answer.Session.RunID.String())
	return err == nil && at.Node != answer.NodeID
}

// atFlag adds the flag that names an earlier node of the run.
func atFlag(cmd *cobra.Command, at *string) {
	cli.WithOptions(cmd, cli.Opt(at, "at NODE",
		"the step at NODE of the run instead of the current one: the node's id, a prefix of it, or the step's id"))
}

// nothingPending returns the VALIDATION_ERROR for a submission to a run without a pending step,
// where it would be lost. It suggests the command that shows the run.
func nothingPending(answer engine.Answer) error {
	return fault.New(fault.ValidationError, "run %s is %s: no step is pending, so nothing can be submitted",
		answer.Session.RunID, render.Status(answer.Status)).
		Suggest("Show the run with %s.", fault.Command{"runs", "show", page.ShortRun(answer.Session.RunID)})
}

// showStep shows the answer of a call that started or continued a run.
func showStep(ctx context.Context, a *cli.App, o *cli.Store, answer engine.Answer) error {
	return printAnswer(a, answer, func(p *page.Page) { showPending(ctx, a, o, answer, false, p) })
}

// printAnswer prints a step or a blocked attempt as the document of that kind, or as the text of
// people. For a blocked attempt it returns exit status 3: the attempt is recorded and the step is
// still pending.
func printAnswer(a *cli.App, answer engine.Answer, people func(*page.Page)) error {
	err := a.Answer(answer.Kind(), answer, people)
	if err == nil && len(answer.Blockers) > 0 {
		return cli.ExitWith(fault.ExitWaiting)
	}
	return err
}

// showPending prints an answer for a person: the blockers of the attempt, the pending step
// with its position and prompt, the recap of earlier steps, warnings, and the command that
// continues. Tokens are not shown, since people name the run instead.
//
// behind states that the run has already continued from this node, so that another
// submission creates a branch.
func showPending(ctx context.Context, a *cli.App, o *cli.Store, answer engine.Answer, behind bool, p *page.Page) {
	run := page.ShortRun(answer.Session.RunID)
	name := page.OneLine(answer.Workflow.Name)
	// Blockers come first: they are why the step is still pending.
	for _, b := range answer.Blockers {
		p.Text(p.Bad("✗")+" ", page.OneLine(render.Sentence(b.Message)))
		if b.SuggestedFix != "" {
			p.Text("  ", b.SuggestedFix)
		}
		if b.Check != nil && b.Check.OutputTail != nil && *b.Check.OutputTail != "" {
			p.Line("  %s", p.Dim("End of its output:"))
			p.Quote("  ", *b.Check.OutputTail, page.Plain)
		}
	}
	for _, c := range answer.Checks {
		render.Check(p, "", c)
	}
	if len(answer.Blockers) > 0 && answer.Result != nil {
		showResult(*answer.Result, p)
	}
	p.Blank()
	// The run has ended, or no step accepts a submission.
	if answer.Pending == nil {
		p.Line("%s %s", render.Mark(p, answer.Status), p.Bold(name+" is "+render.Status(answer.Status)))
		p.Line("%s", p.Dim("Show it with: "+a.Command("runs", "show", run)))
		showWarnings(answer, p)
		return
	}
	// Missing inputs are shown as flags to fill in.
	var inputFlags []string
	for _, key := range answer.MissingInputs() {
		inputFlags = append(inputFlags, "--set", key+"=…")
	}
	// Position and rounds come from the pinned workflow; if it cannot be read, they are
	// omitted.
	position, step := []string(nil), compile.Step{}
	if w, err := o.Workflow(ctx, answer.Workflow.WorkflowHash); err == nil {
		position = append(position, positionOf(w, answer))
		for _, r := range perform.RoundsOf(w, answer.Pending.StepInstanceKey, answer.Context()) {
			position = append(position, perform.FormatRounds([]perform.Round{r}))
		}
		step, _ = w.Step(answer.Pending.StepID)
	}
	// Workflow and run, then the step: title and prompt are indented below.
	p.Facts(append([]string{name, run}, position...)...)
	if answer.PreferenceSources.Autonomy != runs.PreferenceByDefault {
		p.Facts(render.Preferences(answer.Preferences, answer.PreferenceSources)...)
	}
	p.Line("%s", p.Bold(page.OneLine(answer.Pending.Title)))
	p.Line("")
	p.Prose("  ", answer.Pending.Prompt, page.Plain)
	p.Line("")
	// The recap of earlier steps has a bar at its left.
	if answer.Recap != "" {
		p.Block(p.Dim("│ "), p.Dim("│ "), strings.TrimRight(page.Clean(answer.Recap), "\n"), p.Dim)
		p.Line("")
	}
	if answer.Pending.AwaitsGuided() {
		p.Line("%s", p.Warn("Continuing from here counts as your confirmation."))
	}
	showWarnings(answer, p)
	if answer.Next == nil {
		p.Line("The run is %s: no further steps are accepted.", render.Status(answer.Status))
		return
	}
	if answer.Status == runs.Paused {
		p.Text("", "The run is paused since "+page.ClockTime(answer.Paused.SinceMs, "2 Jan 2006 15:04")+": "+page.OneLine(answer.Paused.Reason))
		p.Line("Next: %s", a.Command("runs", "resume", run))
		return
	}
	names := []string{"--run", run}
	if behind {
		// --run alone would submit the step that is pending now, and not the one shown here.
		names = append(names, "--at", page.ShortNode(answer.NodeID))
		p.Text(p.Warn("! "), "The run has already continued from here. Submitting this step again creates a branch.")
		p.Line("Current step of the run: %s", a.Command("continue", "--run", run))
	}
	p.Line("Next: %s", nextCommand(a, answer, step, names, inputFlags))
}

// showResult prints the result of the step's command: the outcome, and the end of each output.
func showResult(r command.Brief, p *page.Page) {
	p.Line("  The command %s.", page.OneLine(r.Outcome()))
	for _, stream := range []struct{ name, text string }{{"stdout", r.StdoutTail}, {"stderr", r.StderrTail}} {
		if text := strings.TrimRight(stream.text, "\n"); text != "" {
			p.Line("  %s", p.Dim("End of "+stream.name+":"))
			p.Quote("  ", text, page.Plain)
		}
	}
}

// nextCommand returns the command line that continues from an answer. It depends on what the
// step waits for: an approval, only an acknowledgement, a command that 'run' executes, or notes
// and artifacts, whose flags are shown with placeholders. names are the flags that name the step.
func nextCommand(a *cli.App, answer engine.Answer, step compile.Step, names, inputFlags []string) string {
	with := func(name string, more ...string) string {
		return a.Command(slices.Concat([]string{name}, names, more)...)
	}
	switch {
	// The output is complete and only the approval is missing.
	case answer.OutputsSubmitted() && answer.NextIntent == engine.AwaitConfirmation:
		return a.Command(append([]string{"approve"}, names[1:]...)...)
	// The output is complete; the step needs an acknowledgement.
	case answer.OutputsSubmitted():
		return with("continue", "--done")
	case step.Action != nil, answer.Pending.Wait != nil && answer.Pending.Wait.Unset == "":
		return with("run", inputFlags...) // only run executes commands and ends waits
	case answer.IsCommand():
		return a.Command("serve") // only the host performs its steps
	}
	// The requirements of the step decide which flags are shown.
	flags := []string{"--notes", "…"}
	if c := answer.Pending.OutputContract; c != nil && c.Required || len(step.AssessmentRefs) > 0 {
		flags = append(flags, "--artifact", "FILE")
	}
	return with("continue", append(flags, inputFlags...)...)
}

// positionOf returns the place of the pending step in the workflow, or the number of completed
// steps if steps can come back.
func positionOf(w compile.Compiled, answer engine.Answer) string {
	if !w.InOrder() {
		return page.Itoa(int(answer.StepsDone())) + " done"
	}
	at, of, _ := w.Position(answer.Pending.StepID)
	return "step " + page.CountOf(at+1, of)
}

// showWarnings prints the warnings of an answer, and what was redacted of the request.
func showWarnings(answer engine.Answer, p *page.Page) {
	for _, w := range answer.Warnings {
		p.Line("%s %s", p.Warn("!"), page.OneLine(w.Message))
	}
	render.Redactions(p, answer.Redactions)
}
