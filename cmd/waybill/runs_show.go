package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/projections"
)

func newRunsShowCommand(a *app) *cobra.Command {
	var head bool
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show one run: its steps, notes and what is open",
		Long: `Show where a run stands: each step with its notes, what is open, and the command that
goes on. Without RUN the latest run is shown.

The head, with --head, is a digest of all that the session's log holds. Note it, sign it or
mail it: 'waybill verify --expect-head' says later whether the log still holds that.`,
		Example: "  waybill runs show\n  waybill runs show k3j2a7\n" +
			"  waybill runs show @last --json | jq .data.progress",
		Args: atMost("RUN"),
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
			return a.answer("run", run, func(p *page) {
				a.tellRun(run, p)
				if head {
					p.line("")
					p.line("Head of %s: %s", run.SessionID, run.Head.Digest)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&head, "head", false, "show the head of the session's log too")
	return cmd
}

// tellRun shows a run as a checklist: what it is, its steps with the notes on them,
// what is open, and how to go on.
func (a *app) tellRun(r engine.RunDetails, p *page) {
	p.painted(p.mark(r.Status)+" ", r.Title+"  "+told(r.Status), p.bold)
	p.facts(clean(r.Workflow.WorkflowID), r.RunID.String(), count(int(r.Progress.Completed), int(r.Progress.Total))+
		" done",
		"started "+clockTime(r.StartedAtMs, "2 Jan 2006 15:04"), "last "+clockTime(r.LastAtMs, "2 Jan 2006 15:04"))
	if f := r.ForkedFrom; f != nil {
		p.facts("forked from " + shortRun(f.RunID) + " at " + shortNode(f.NodeID))
	}
	p.said(r.RunSummary)
	switch r.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.text(p.warn(foreignMark+" "), foreignNote)
	default:
		p.line("%s", p.bad("Its session is "+toldHealth(r.Health)+": nothing can be added to it."))
	}
	p.line("")
	closed := r.Status == projections.Cancelled || r.Status == projections.Failed
	for i, s := range r.Steps {
		if earlierRound(r.Steps, i) {
			if i == 0 || !earlierRound(r.Steps, i-1) {
				p.line("%s", p.dim("  …   earlier rounds"))
			}
			continue
		}
		p.stepRow(i+1, s, closed)
	}
	p.gaps(r)
	switch {
	case r.Health != manifest.Healthy:
		p.line("")
		p.line("Next: %s", a.command("verify", shortRun(r.RunID)))
	case closed:
	case waitsForApproval(r):
		p.line("")
		p.line("Next: %s", a.command("approve", shortRun(r.RunID)))
	case hasPending(r):
		p.line("")
		p.line("Next: %s", a.command("run", "--run", shortRun(r.RunID)))
	}
}

// waitsForApproval reports a run whose pending step was handed in and refused for
// want of an approval.
func waitsForApproval(r engine.RunDetails) bool {
	for _, s := range r.Steps {
		for _, g := range r.Gaps {
			if s.State == engine.StepPending && g.Reason == reason.NeedsApproval && g.Pointer != nil &&
				*g.Pointer == reason.WorkflowStep(s.StepID) {
				return true
			}
		}
	}
	return false
}

// roundsShown is how many rows of one loop people are shown: the latest.
const roundsShown = 20

// earlierRound reports a row of a loop that has more rows behind it than are shown.
func earlierRound(rows []engine.StepRow, i int) bool {
	loop, _, in := strings.Cut(rows[i].StepInstanceKey, "@")
	if !in || i+roundsShown >= len(rows) || !strings.HasPrefix(rows[i+roundsShown].StepInstanceKey, loop+"@") {
		return false
	}
	return true
}

// hasPending reports a run that waits for somebody; one that is complete has nothing
// to go on with.
func hasPending(r engine.RunDetails) bool {
	for _, s := range r.Steps {
		if s.State == engine.StepPending {
			return true
		}
	}
	return false
}

// stepRow shows one step and the notes on it. Where a run was closed, the pending step
// is the one that it was left at.
func (p *page) stepRow(n int, s engine.StepRow, closed bool) {
	mark, title, paint := p.dim("○"), s.Title, plainly
	switch s.State {
	case engine.StepDone:
		mark = p.good("✓")
	case engine.StepPending:
		mark, paint = p.bold("●"), p.bold
		if closed {
			mark, title = p.bad("✗"), title+" (left undone)"
		}
	case engine.StepSkipped:
		mark, title = p.dim("–"), title+" (passed over)"
	}
	if loops, _, err := snapshot.ParseKey(s.StepInstanceKey); err == nil && len(loops) > 0 {
		var rounds []string
		for _, l := range loops {
			rounds = append(rounds, itoa(int(l.Iteration)+1))
		}
		title += "  (round " + strings.Join(rounds, ".") + ")"
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
	if len(r.Gaps)+len(r.Blockers) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.bold("Open"))
	for _, b := range r.Blockers {
		// What it suggests is meant for callers of the program that wrote it.
		p.text("  "+p.bad("blocked")+"  ", b.Message)
	}
	for _, g := range r.Gaps {
		word := p.warn(string(g.Severity))
		if g.Severity == event.Critical {
			word = p.bad(string(g.Severity))
		}
		p.text("  "+word+"  ", g.Summary)
	}
}
