package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/manifest"
)

func newRunsShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show one run: its steps, notes and what is open",
		Long: `Show where a run stands: each step with its notes, what is open, and the command that
goes on. Without RUN the latest run is shown.`,
		Example: "  waybill runs show\n  waybill runs show k3j2a7\n  waybill runs show @last --json | jq .data.progress",
		Args:    atMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			run, err := o.Run(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			return a.answer("run", run, func(p *page) { a.tellRun(run, p) })
		},
	}
}

// tellRun shows a run as a checklist: what it is, its steps with the notes on them,
// what is open, and how to go on.
func (a *app) tellRun(r engine.RunDetails, p *page) {
	p.painted(p.mark(r.Status)+" ", r.Title+"  "+told(r.Status), p.bold)
	p.facts(clean(r.Workflow.WorkflowID), r.RunID.String(), count(int(r.Progress.Completed), int(r.Progress.Total))+" done",
		"started "+clockTime(r.StartedAtMs, "2 Jan 2006 15:04"), "last "+clockTime(r.LastAtMs, "2 Jan 2006 15:04"))
	if r.Health != manifest.Healthy {
		p.line("%s", p.bad("Its session is "+toldHealth(r.Health)+": nothing can be added to it."))
	}
	p.line("")
	for i, s := range r.Steps {
		p.stepRow(i+1, s)
	}
	p.gaps(r)
	switch {
	case r.Health != manifest.Healthy:
		p.line("")
		p.line("Next: %s", a.command("verify", shortRun(r.RunID)))
	case hasPending(r):
		p.line("")
		p.line("Next: %s", a.command("run", "--run", shortRun(r.RunID)))
	}
}

// hasPending reports a run that waits for somebody; one that is closed or complete
// has nothing to go on with.
func hasPending(r engine.RunDetails) bool {
	for _, s := range r.Steps {
		if s.State == engine.StepPending {
			return true
		}
	}
	return false
}

// stepRow shows one step and the notes on it.
func (p *page) stepRow(n int, s engine.StepRow) {
	mark, title, paint := p.dim("○"), s.Title, plainly
	switch s.State {
	case engine.StepDone:
		mark = p.good("✓")
	case engine.StepPending:
		mark, paint = p.bold("●"), p.bold
	case engine.StepSkipped:
		mark, title = p.dim("–"), title+" (passed over)"
	}
	if s.Attempts > 1 {
		title += "  (" + itoa(s.Attempts) + " attempts)"
	}
	if s.DoneAtMs > 0 {
		title += "  " + clockTime(s.DoneAtMs, "15:04")
	}
	p.painted(mark+" "+pad(itoa(n), 2)+"  ", title, paint)
	if s.Notes != "" {
		p.text("       ", s.Notes)
	}
}

// gaps lists what is open on the way to the tip, worst told in its color.
func (p *page) gaps(r engine.RunDetails) {
	if len(r.Gaps) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.bold("Open"))
	for _, g := range r.Gaps {
		word := p.warn(string(g.Severity))
		if g.Severity == event.Critical {
			word = p.bad(string(g.Severity))
		}
		p.text("  "+word+"  ", g.Summary)
	}
}
