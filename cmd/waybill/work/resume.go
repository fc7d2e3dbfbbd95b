package work

import (
	"context"

	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/projections"
)

// resumeLong is what 'waybill resume --help' prints above the usage.
const resumeLong = `Find the run that was left off: the best few, each with the reason why it is meant.
Runs of the commit that is checked out come first, then those of its branch, then those
whose notes hold all the words of QUERY, then those whose workflow is called so, then
the latest ones. Finished runs are among them and say so.

Every session of the store is looked at. One that is damaged, or written by a newer
program, is never offered; how many were passed over is said.`

// resumeInput is what the flags of resume say: ids that must be found, beside
// the words of the query.
type resumeInput struct{ session, run string }

// NewResume makes the command "resume". It ranks the runs of the store by the
// checked-out commit and branch, the words of the query and the time, and
// prints the best few. It only reads.
func NewResume(a *cli.App) *cobra.Command {
	var in resumeInput
	cmd := &cobra.Command{
		Use:     "resume [QUERY...]",
		GroupID: cli.GroupLook,
		Short:   "Find the run that was left off",
		Long:    resumeLong,
		Example: "  waybill resume\n  waybill resume parser benchmark\n  waybill resume --run run_k3j2a7… --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := in.query(args)
			if err != nil {
				return err
			}
			// What is checked out ranks the runs.
			_, root, err := a.Workspace()
			if err != nil {
				return err
			}
			return cli.Show(a, cmd, "candidates",
				func(ctx context.Context, o *cli.Store) (engine.ResumeList, error) {
					return candidates(ctx, a, o, q, engine.Anchored(q, gitobserver.Observe(root)))
				},
				func(p *page.Page, list engine.ResumeList) { showCandidates(a, list, p) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.session, "session", "", "put the session with exactly this `ID` first; it must be there")
	f.StringVar(&in.run, "run", "", "put the run with exactly this `ID` first; it must be there")
	return cmd
}

// candidates asks for runs to go on with; anchored is q with the commit and branch that are
// checked out. A session or run that q names and the store does not offer is an error.
func candidates(ctx context.Context, a *cli.App, o *cli.Store, q, anchored resume.Query) (engine.ResumeList, error) {
	list, err := o.Resume(ctx, anchored)
	if err != nil {
		return list, err
	}
	for i := range list.Candidates {
		if n := list.Candidates[i].Next; n != nil {
			n.Command = a.WithStoreFlags(n.Command)
		}
	}
	return list, cli.CheckCandidates(q, list,
		"See all runs with 'waybill runs list', or the likely ones with 'waybill resume'.")
}

// query makes the query of the flags and words. A malformed id is an error, and
// not searched for as a word.
func (in *resumeInput) query(words []string) (resume.Query, error) {
	q := resume.Query{Text: strings.Join(words, " ")}
	if len(q.Text) > limits.ResumeQueryBytesMax {
		return q, fault.New(fault.ValidationError, "the query has %d bytes; at most %d are allowed", len(q.Text),
			limits.ResumeQueryBytesMax)
	}
	var err error
	if in.session != "" {
		if q.Session, err = id.ParseSession(in.session); err != nil {
			return q, fault.New(fault.ValidationError, "--session: %v", err).
				Suggest("Give the whole id, sess_…; words go without a flag.")
		}
	}
	if in.run != "" {
		if q.Run, err = id.ParseRun(in.run); err != nil {
			return q, fault.New(fault.ValidationError, "--run: %v", err).
				Suggest("Give the whole id, run_…; words go without a flag.")
		}
	}
	return q, nil
}

// showCandidates prints each candidate with the reason why it is offered and
// the command that continues it. Runs that take no further steps get the
// command that shows them. Sessions that could not be looked at are counted at
// the end.
func showCandidates(a *cli.App, list engine.ResumeList, p *page.Page) {
	if len(list.Candidates) == 0 {
		p.Line("No run that could be gone on with.")
	}
	// The best one is first.
	for i, c := range list.Candidates {
		if i > 0 {
			p.Line("")
		}
		p.Painted(render.Mark(p, c.Status)+" ", c.Title+"  "+render.Status(c.Status), p.Bold)
		var why []string
		for _, w := range c.WhyMatched {
			why = append(why, reasonWords(w))
		}
		p.Facts(page.Clean(c.WorkflowID), page.ShortRun(c.RunID), a.Ago(c.LastAtMs), strings.Join(why, ", "))
		if c.StepTitle != "" {
			p.Text("  at ", c.StepTitle)
		}
		if c.Snippet != "" {
			p.Text("  ", firstLines(c.Snippet, 3))
		}
		// A run that is over can only be looked at.
		if c.StepID == "" || c.Status == projections.Cancelled || c.Status == projections.Failed {
			p.Line("  %s", a.Command("runs", "show", page.ShortRun(c.RunID)))
			continue
		}
		p.Line("  %s", a.Command("continue", "--run", page.ShortRun(c.RunID)))
	}
	if list.Skipped > 0 {
		p.Line("")
		p.Text(p.Warn("! "), page.Plural(int(list.Skipped), "session")+
			" could not be offered: damaged, or written by another program. 'waybill verify' says more.")
	}
}

// firstLines is the beginning of a text, with a sign where it was cut.
func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		return strings.Join(lines[:n], "\n") + " …"
	}
	return strings.Join(lines, "\n")
}

// reasonWords is why a candidate is offered, in words. A reason that is not
// known here reads as one of the latest.
func reasonWords(r resume.Reason) string {
	switch r {
	case resume.MatchedSessionID, resume.MatchedRunID:
		return "named"
	case resume.MatchedHeadSHA:
		return "on this commit"
	case resume.MatchedBranch:
		return "on this branch"
	case resume.MatchedNotes:
		return "its notes hold the words"
	case resume.MatchedWorkflowID:
		return "its workflow is called so"
	}
	return "one of the latest"
}
