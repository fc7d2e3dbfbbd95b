package work

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/projections/runs"
)

// resumeLong is what 'waybill resume --help' prints above the usage.
const resumeLong = `Find runs to resume: the best matches, each with the reason for the match. Runs of the
checked-out commit come first, then runs of its branch, then those whose notes, title and
goal contain all words of QUERY, then those whose workflow id or name does, then the
latest runs. Runs that have ended are included and marked.

The notes of every step are searched, also on other branches of a run and in checkpoints;
those in which the words were found are shown. A word of QUERY may be a branch or a
commit, of at least seven digits, of any repository.

The command reads every session of the store and changes nothing. A session that is
damaged is skipped; the number of skipped sessions is printed. A run of another program,
or of a newer version, is marked and can only be read.`

// resumeInput holds the flags of resume: ids that must be found, in addition to the words of
// the query.
type resumeInput struct{ session, run string }

// NewResume returns the command "resume". It ranks the runs of the store by checked-out commit
// and branch, the words of the query and time (docs/design.md#resume-ranking), and prints the
// best ones. It only reads.
func NewResume(a *cli.App) *cobra.Command {
	var in resumeInput
	cmd := &cobra.Command{
		Use:     "resume [QUERY...]",
		GroupID: cli.GroupInspect,
		Short:   "Find runs to resume",
		Long:    resumeLong,
		Example: "  waybill resume\n  waybill resume parser benchmark\n  waybill resume --run run_k3j2a7… --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := in.query(args)
			if err != nil {
				return err
			}
			return cli.Show(a, cmd, "candidates",
				progress.Listing(a, cmd, func(ctx context.Context, o *cli.Store) (candidates.List, error) {
					return a.Candidates(ctx, o, q,
						fault.Suggest("List all runs with %s, or the best matches with %s.",
							fault.Command{"runs", "list"}, fault.Command{"resume"}))
				}),
				func(p *page.Page, list candidates.List) { showCandidates(a, list, p) })
		},
	}
	cli.WithOptions(cmd,
		cli.Opt(&in.session, "session ID", "require the session with this complete ID and list it first"),
		cli.Opt(&in.run, "run ID", "require the run with this complete ID and list it first"),
		cli.Lines(a, "candidates"))
	return cmd
}

// query returns the query of flags and words. A malformed id is a VALIDATION_ERROR and is not
// searched for as a word; so is a query of more than limits.ResumeQueryBytesMax bytes.
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
				Suggest("Give the complete id, sess_…; give words of the query without a flag.")
		}
	}
	if in.run != "" {
		if q.Run, err = id.ParseRun(in.run); err != nil {
			return q, fault.New(fault.ValidationError, "--run: %v", err).
				Suggest("Give the complete id, run_…; give words of the query without a flag.")
		}
	}
	return q, nil
}

// showCandidates prints each candidate with the reason for the match and the command that
// continues it. For runs that accept no further steps it prints the command that shows them.
// The number of skipped sessions is printed at the end.
func showCandidates(a *cli.App, list candidates.List, p *page.Page) {
	if len(list.Candidates) == 0 {
		p.Line("No runs to resume.")
	}
	// Candidates are sorted, the best one first.
	for _, c := range list.Candidates {
		p.Blank()
		p.StyledText(render.Mark(p, c.Status)+" ", c.Title+"  "+render.Status(c.Status), p.Bold)
		var why []string
		for _, w := range c.WhyMatched {
			why = append(why, cmp.Or(reasonWords[w], "one of the latest"))
		}
		p.Facts(render.WorkflowID(c.WorkflowID, c.Source), page.ShortRun(c.RunID), a.Ago(c.LastAtMs), strings.Join(why, ", "))
		if c.Goal != "" && c.Goal != c.Title {
			p.Text("  goal: ", c.Goal)
		}
		if c.StepTitle != "" {
			p.Text("  at ", c.StepTitle)
		}
		if c.Where != nil && c.Where.StepID != "" {
			p.Text("  found in ", whereWords[c.Where.In]+" of step "+c.Where.StepID)
		}
		if c.Snippet != "" {
			p.Prose("  ", firstLines(c.Snippet, 3), page.Plain)
		}
		if point := c.Checkpoint; point != nil {
			point.Notes = firstLines(point.Notes, 3)
			render.Checkpoint(p, "  ", *point)
		}
		if c.ReadOnly {
			p.Text("  "+p.Warn(render.ForeignMark+" "), render.ForeignNote)
		}
		// A run that has ended can only be shown.
		if c.ReadOnly || c.StepID == "" || c.Status == runs.Cancelled || c.Status == runs.Failed {
			p.Line("  %s", a.Command("runs", "show", page.ShortRun(c.RunID)))
			continue
		}
		p.Line("  %s", a.Command(pages.Continue(c.NeedsApproval, page.ShortRun(c.RunID))...))
	}
	if list.BeginningOnly > 0 {
		p.Line("")
		p.Text(p.Warn("! "), "Of the long notes of "+page.Plural(int(list.BeginningOnly), "run")+
			" only the beginning was searched: they are too many.")
	}
	if list.Skipped > 0 {
		p.Line("")
		p.Text(p.Warn("! "), page.Plural(int(list.Skipped), "session")+
			" skipped: damaged. Run 'waybill verify' for details.")
	}
}

// firstLines returns the first n lines of a text, followed by an ellipsis if there are more.
func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		return strings.Join(lines[:n], "\n") + " …"
	}
	return strings.Join(lines, "\n")
}

// whereWords are the parts of a run that are notes of a step.
var whereWords = map[resume.Part]string{
	resume.InNotes:      "the notes",
	resume.InCheckpoint: "a checkpoint",
}

// reasonWords are the reasons for a match in words.
var reasonWords = map[resume.Reason]string{
	resume.MatchedSessionID:  "requested by id",
	resume.MatchedRunID:      "requested by id",
	resume.MatchedHeadSHA:    "commit matches",
	resume.MatchedBranch:     "branch matches",
	resume.MatchedNotes:      "words found in its notes, title or goal",
	resume.MatchedWorkflowID: "words found in its workflow name",
}
