package work

import (
	"context"
	"strconv"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// showAnswer prints a step, or a blocked attempt, as the document of that kind.
// A blocked one ends with exit status 3: the attempt is recorded, and the step
// is still pending.
//
// behind says that the run has continued from this node before, so that handing
// in again makes a branch.
func showAnswer(ctx context.Context, a *cli.App, o *cli.Store, answer engine.Answer, behind bool) error {
	// The next command must reach this store when it is copied.
	if answer.Next != nil {
		answer.Next.Command = a.WithStoreFlags(answer.Next.Command)
	}
	err := a.Answer(answer.Kind(), answer, func(p *page.Page) { showPending(ctx, a, o, answer, behind, p) })
	if err == nil && len(answer.Blockers) > 0 {
		return cli.ExitWith(fault.ExitWaiting)
	}
	return err
}

// nothingPending is the error for handing something in where no step is
// pending: it would be lost. The suggestion shows the run.
func nothingPending(a *cli.App, answer engine.Answer) error {
	f := fault.New(fault.ValidationError, "run %s is %s: no step is pending, and what was given would be lost",
		answer.Session.RunID, render.Status(answer.Status)).
		Suggest("See it with 'waybill runs show %s'.", page.ShortRun(answer.Session.RunID))
	return f
}

// showPending prints an answer for a person: what an attempt lacked, the
// pending step with its place and prompt, what was done before, warnings, and
// the command to go on with. People name the run, so no tokens are shown.
func showPending(ctx context.Context, a *cli.App, o *cli.Store, answer engine.Answer, behind bool, p *page.Page) {
	run := page.ShortRun(answer.Session.RunID)
	name := page.Clean(answer.Workflow.Name)
	// What was refused comes first: it is why the step is still pending.
	for _, b := range answer.Blockers {
		p.Line("%s %s", p.Bad("✗"), page.Clean(b.Message))
		if b.SuggestedFix != "" {
			p.Text("  ", b.SuggestedFix)
		}
	}
	if len(answer.Blockers) > 0 {
		p.Line("")
	}
	// The run is over, or waits for nothing that could be handed in.
	if answer.Pending == nil {
		p.Line("%s %s", render.Mark(p, answer.Status), p.Bold(name+" is "+render.Status(answer.Status)))
		p.Line("%s", p.Dim("See it with: "+a.Command("runs", "show", run)))
		showWarnings(a, answer, p)
		return
	}
	// Values that the step still needs are shown as flags to fill in.
	var asked []string
	for _, key := range answer.Asked() {
		asked = append(asked, "--set", key+"=…")
	}
	// The pinned workflow has titles and positions; without it the rest is
	// still shown.
	where, step := []string(nil), compile.Step{}
	if w, err := o.Pinned(ctx, answer.Workflow.WorkflowHash); err == nil {
		if at, of, ok := w.Position(answer.Pending.StepID); ok {
			where = append([]string{"step " + page.CountOf(at+1, of)}, roundsOf(w, answer.Pending.StepInstanceKey)...)
		}
		step, _ = w.Step(answer.Pending.StepID)
	}
	p.Facts(append([]string{name, run}, where...)...)
	p.Line("%s", p.Bold(page.Clean(answer.Pending.Title)))
	p.Line("")
	p.Text("  ", answer.Pending.Prompt)
	p.Line("")
	// What earlier steps left, set off by a bar.
	if answer.Recap != "" {
		p.Painted(p.Dim("│ "), answer.Recap, p.Dim)
		p.Line("")
	}
	if answer.Pending.RequireConfirmation {
		p.Line("%s", p.Warn("Going on from here is your confirmation."))
	}
	showWarnings(a, answer, p)
	if answer.Next == nil {
		p.Line("The run is %s: it takes no further steps.", render.Status(answer.Status))
		return
	}
	if behind {
		// --run would hand in another step than the one that is shown.
		p.Text(p.Warn("! "), "The run has gone on from here before. Handing this step in again, with the tokens that "+
			"--json shows, begins a branch.")
		p.Line("Where the run stands: %s", a.Command("continue", "--run", run))
		return
	}
	p.Line("Next: %s", nextOf(a, answer, step, run, asked))
}

// nextOf is the command that continues from an answer. It depends on what the
// step waits for: an approval, nothing more, a command that 'run' carries out,
// or notes and artifacts, whose flags are shown with gaps to fill in.
func nextOf(a *cli.App, answer engine.Answer, step compile.Step, run string, asked []string) string {
	switch {
	case answer.HandedIn() && answer.NextIntent == engine.AwaitConfirmation:
		return a.Command("approve", run)
	case answer.HandedIn():
		return a.Command("continue", "--run", run, "--done")
	case step.Action != nil:
		return a.Command(append([]string{"run", "--run", run}, asked...)...) // what carries commands out
	}
	// What the step demands decides which flags are shown.
	argv := []string{"continue", "--run", run, "--notes", "…"}
	if c := answer.Pending.OutputContract; c != nil && c.Required || len(step.AssessmentRefs) > 0 {
		argv = append(argv, "--artifact", "FILE")
	}
	return a.Command(append(argv, asked...)...)
}

// roundsOf says in which round of its loops a step is, the outermost first. A
// key that cannot be parsed gives none: it is of a newer version.
func roundsOf(w compile.Compiled, key string) []string {
	loops, _, err := snapshot.ParseKey(key)
	if err != nil {
		return nil
	}
	var out []string
	for _, l := range loops {
		out = append(out, "round "+page.Itoa(int(l.Iteration)+1)+" of "+page.Clean(titleOfLoop(w, l.LoopID)))
	}
	return out
}

// titleOfLoop is the title of a loop in quotes, or its id where the workflow
// does not have it.
func titleOfLoop(w compile.Compiled, loopID string) string {
	if l, ok := w.Loop(loopID); ok {
		return strconv.Quote(l.Title)
	}
	return loopID
}

// showWarnings prints the warnings of an answer.
func showWarnings(a *cli.App, answer engine.Answer, p *page.Page) {
	for _, w := range answer.Warnings {
		p.Line("%s %s", p.Warn("!"), page.Clean(w.Message))
	}
}
