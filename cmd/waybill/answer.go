package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections"
)

// showAnswer prints a step or blocked document. A blocked one exits with 3. behind
// says that the run went on from there before.
func (a *app) showAnswer(ctx context.Context, o *opened, answer engine.Answer, behind bool) error {
	if answer.Next != nil {
		answer.Next.Command = a.withStoreFlags(answer.Next.Command)
	}
	err := a.answer(answer.Kind(), answer, func(p *page) { a.tell(ctx, o, answer, behind, p) })
	if err == nil && len(answer.Blockers) > 0 {
		return exitWith(fault.ExitWaiting)
	}
	return err
}

// withStoreFlags puts the store flags of this call behind the words of a command,
// so that a copied command reaches the same store.
func (a *app) withStoreFlags(argv []string) []string {
	at := slices.IndexFunc(argv, func(s string) bool { return strings.HasPrefix(s, "-") })
	if at < 0 {
		at = len(argv)
	}
	return slices.Insert(slices.Clone(argv), at, a.storeFlags()...)
}

// storeFlags are the flags of this call that say which store is meant.
func (a *app) storeFlags() []string {
	var flags []string
	if a.common.store != "" {
		flags = append(flags, "--store", a.common.store)
	}
	if a.common.tenant != "" {
		flags = append(flags, "--tenant", a.common.tenant)
	}
	if a.common.workspace != "" {
		flags = append(flags, "--workspace", a.common.workspace)
	}
	if a.common.allowNetworkFS {
		flags = append(flags, "--allow-network-fs")
	}
	return flags
}

// nothingPending is the answer to handing something in where nothing is asked for.
func (a *app) nothingPending(answer engine.Answer) error {
	f := fault.New(fault.ValidationError, "run %s is %s: no step is pending, and what was given would be lost",
		answer.Session.RunID, told(answer.Status)).
		Suggest("See it with 'waybill runs show %s'.", shortRun(answer.Session.RunID))
	return f
}

// tell shows an answer to a person: where the run stands, what is pending, and the
// command that goes on. People need no tokens.
func (a *app) tell(ctx context.Context, o *opened, answer engine.Answer, behind bool, p *page) {
	run := shortRun(answer.Session.RunID)
	name := clean(answer.Workflow.Name)
	for _, b := range answer.Blockers {
		p.line("%s %s", p.bad("✗"), clean(b.Message))
		if b.SuggestedFix != "" {
			p.text("  ", b.SuggestedFix)
		}
	}
	if len(answer.Blockers) > 0 {
		p.line("")
	}
	if answer.Pending == nil {
		p.line("%s %s", p.mark(answer.Status), p.bold(name+" is "+told(answer.Status)))
		p.line("%s", p.dim("See it with: "+a.command("runs", "show", run)))
		a.tellWarnings(answer, p)
		return
	}
	var asked []string
	for _, key := range answer.Asked() {
		asked = append(asked, "--set", key+"=…")
	}
	where, step := []string(nil), compile.Step{}
	if w, err := o.Pinned(ctx, answer.Workflow.WorkflowHash); err == nil {
		if at, of, ok := w.Position(answer.Pending.StepID); ok {
			where = append([]string{"step " + count(at+1, of)}, roundsOf(w, answer.Pending.StepInstanceKey)...)
		}
		step, _ = w.Step(answer.Pending.StepID)
	}
	p.facts(append([]string{name, run}, where...)...)
	p.line("%s", p.bold(clean(answer.Pending.Title)))
	p.line("")
	p.text("  ", answer.Pending.Prompt)
	p.line("")
	if answer.Recap != "" {
		p.painted(p.dim("│ "), answer.Recap, p.dim)
		p.line("")
	}
	if answer.Pending.RequireConfirmation {
		p.line("%s", p.warn("Going on from here is your confirmation."))
	}
	a.tellWarnings(answer, p)
	if answer.Next == nil {
		p.line("The run is %s: it takes no further steps.", told(answer.Status))
		return
	}
	if behind {
		// --run would hand in another step than the one that is shown.
		p.text(p.warn("! "), "The run has gone on from here before. Handing this step in again, with the tokens that "+
			"--json shows, begins a branch.")
		p.line("Where the run stands: %s", a.command("continue", "--run", run))
		return
	}
	p.line("Next: %s", a.nextOf(answer, step, run, asked))
}

// nextOf is the command that goes on from an answer.
func (a *app) nextOf(answer engine.Answer, step compile.Step, run string, asked []string) string {
	switch {
	case answer.HandedIn() && answer.NextIntent == engine.AwaitConfirmation:
		return a.command("approve", run)
	case answer.HandedIn():
		return a.command("continue", "--run", run, "--done")
	case step.Action != nil:
		return a.command(append([]string{"run", "--run", run}, asked...)...) // what carries commands out
	}
	argv := []string{"continue", "--run", run, "--notes", "…"}
	if c := answer.Pending.OutputContract; c != nil && c.Required || len(step.AssessmentRefs) > 0 {
		argv = append(argv, "--artifact", "FILE")
	}
	return a.command(append(argv, asked...)...)
}

// roundsOf says where in its loops a step stands, outermost first.
func roundsOf(w compile.Compiled, key string) []string {
	loops, _, err := snapshot.ParseKey(key)
	if err != nil {
		return nil
	}
	var out []string
	for _, l := range loops {
		out = append(out, "round "+itoa(int(l.Iteration)+1)+" of "+clean(titleOfLoop(w, l.LoopID)))
	}
	return out
}

func titleOfLoop(w compile.Compiled, loopID string) string {
	if l, ok := w.Loop(loopID); ok {
		return strconv.Quote(l.Title)
	}
	return loopID
}

func (a *app) tellWarnings(answer engine.Answer, p *page) {
	for _, w := range answer.Warnings {
		p.line("%s %s", p.warn("!"), clean(w.Message))
	}
}

// command is a command line to copy, with this call's store flags.
func (a *app) command(words ...string) string {
	argv := a.withStoreFlags(append([]string{"waybill"}, words...))
	return command.Line(argv)
}

// told is a status in words.
func told(s projections.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// toldHealth is a health in words.
func toldHealth(h manifest.Health) string { return strings.ReplaceAll(string(h), "_", " ") }

// mark is the sign of a status.
func (p *page) mark(s projections.Status) string {
	switch s {
	case projections.CompleteStatus:
		return p.good("✓")
	case projections.Failed, projections.Cancelled:
		return p.bad("✗")
	case projections.Blocked, projections.CompleteWithGaps, projections.Cancelling:
		return p.warn("!")
	}
	return p.bold("●")
}
