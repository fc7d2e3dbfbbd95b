package runs

import (
	"context"

	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections"
)

// newShow makes "runs show". The document always has the head of the session's
// log; people get it with --head.
func newShow(a *cli.App) *cobra.Command {
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
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "run",
				func(ctx context.Context, o *cli.Store) (engine.RunDetails, error) {
					return o.Run(ctx, cli.RunArg(args))
				},
				func(p *page.Page, run engine.RunDetails) {
					showRun(a, run, p)
					if head {
						p.Line("")
						p.Line("Head of %s: %s", run.SessionID, run.Head.Digest)
					}
				})
		},
	}
	cmd.Flags().BoolVar(&head, "head", false, "show the head of the session's log too")
	return cmd
}

// showRun prints a run as a checklist: what it is and where it comes from, its
// steps with their notes, what is open, and the command that continues it. A
// run of a damaged session is shown as far as its log is valid, with the
// command that checks it.
//
// There is at most one suggested command: the first thing that has to be done.
func showRun(a *cli.App, r engine.RunDetails, p *page.Page) {
	p.Painted(render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), p.Bold)
	p.Facts(page.Clean(r.Workflow.WorkflowID), r.RunID.String(),
		page.CountOf(int(r.Progress.Completed), int(r.Progress.Total))+
			" done",
		"started "+page.ClockTime(r.StartedAtMs, "2 Jan 2006 15:04"),
		"last "+page.ClockTime(r.LastAtMs, "2 Jan 2006 15:04"))
	if f := r.ForkedFrom; f != nil {
		p.Facts("forked from " + page.ShortRun(f.RunID) + " at " + page.ShortNode(f.NodeID))
	}
	render.AnnotationFacts(p, r.RunSummary)
	switch r.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	default:
		p.Line("%s", p.Bad("Its session is "+render.Health(r.Health)+": nothing can be added to it."))
	}
	p.Line("")
	// The pending step of a run that was ended will not be done.
	closed := r.Status == projections.Cancelled || r.Status == projections.Failed
	for i, s := range r.Steps {
		// Of a long loop only the latest rounds are shown, with one line for
		// the others.
		if earlierRound(r.Steps, i) {
			if i == 0 || !earlierRound(r.Steps, i-1) {
				p.Line("%s", p.Dim("  …   earlier rounds"))
			}
			continue
		}
		render.StepRow(p, i+1, s, closed)
	}
	showGaps(p, r)
	switch {
	case r.Health != manifest.Healthy:
		p.Line("")
		// A damaged session must be looked at before anything else.
		p.Line("Next: %s", a.Command("verify", page.ShortRun(r.RunID)))
	case closed:
	case waitsForApproval(r):
		p.Line("")
		p.Line("Next: %s", a.Command("approve", page.ShortRun(r.RunID)))
	case hasPending(r):
		p.Line("")
		p.Line("Next: %s", a.Command("run", "--run", page.ShortRun(r.RunID)))
	}
}

// waitsForApproval reports a run whose pending step was handed in and refused
// only because an approval is missing.
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

// roundsShown is how many rows of one loop are shown: the latest ones.
const roundsShown = 20

// earlierRound reports a row of a loop with so many rows of the same loop
// behind it that it is left out. Rows of a loop have keys that begin with the
// loop's id and "@".
func earlierRound(rows []engine.StepRow, i int) bool {
	loop, _, in := strings.Cut(rows[i].StepInstanceKey, "@")
	if !in || i+roundsShown >= len(rows) || !strings.HasPrefix(rows[i+roundsShown].StepInstanceKey, loop+"@") {
		return false
	}
	return true
}

// hasPending reports a run that has a pending step. A run that is complete has
// none.
func hasPending(r engine.RunDetails) bool {
	for _, s := range r.Steps {
		if s.State == engine.StepPending {
			return true
		}
	}
	return false
}

// showGaps lists the open gaps and blockers on the way to the tip. Blockers
// carry suggestions for programs, which are left out here.
func showGaps(p *page.Page, r engine.RunDetails) {
	if len(r.Gaps)+len(r.Blockers) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold("Open"))
	for _, b := range r.Blockers {
		// What it suggests is meant for callers of the program that wrote it.
		p.Text("  "+p.Bad("blocked")+"  ", b.Message)
	}
	for _, g := range r.Gaps {
		word := p.Warn(string(g.Severity))
		if g.Severity == event.Critical {
			word = p.Bad(string(g.Severity))
		}
		p.Text("  "+word+"  ", g.Summary)
	}
}
