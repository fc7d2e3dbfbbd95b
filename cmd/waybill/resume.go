package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/projections"
)

const resumeLong = `Find the run that was left off: the best few, each with the reason why it is meant.
Runs of the commit that is checked out come first, then those of its branch, then those
whose notes hold all the words of QUERY, then those whose workflow is called so, then
the latest ones. Finished runs are among them and say so.

Every session of the store is looked at. One that is damaged, or written by a newer
program, is never offered; how many were passed over is said.`

// resumeInput is what the flags of resume say.
type resumeInput struct{ session, run string }

func newResumeCommand(a *app) *cobra.Command {
	var in resumeInput
	cmd := &cobra.Command{
		Use:     "resume [QUERY...]",
		GroupID: groupLook,
		Short:   "Find the run that was left off",
		Long:    resumeLong,
		Example: "  waybill resume\n  waybill resume parser benchmark\n  waybill resume --run run_k3j2a7… --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := in.query(args)
			if err != nil {
				return err
			}
			_, root, err := a.workspace()
			if err != nil {
				return err
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.Resume(cmd.Context(), engine.Anchored(q, gitobserver.Observe(root)))
			if err != nil {
				return err
			}
			if err := sought(q, list,
				"See all runs with 'waybill runs list', or the likely ones with 'waybill resume'."); err != nil {
				return err
			}
			for i := range list.Candidates {
				if n := list.Candidates[i].Next; n != nil {
					n.Command = a.withStoreFlags(n.Command)
				}
			}
			return a.answer("candidates", list, func(p *page) { a.tellCandidates(list, p) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.session, "session", "", "put the session with exactly this `ID` first; it must be there")
	f.StringVar(&in.run, "run", "", "put the run with exactly this `ID` first; it must be there")
	return cmd
}

// query reads the flags and words; an id that is none is said, not searched for.
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

// sought: an exact id that nothing has is told, with what to do next. Others in its
// place would be gone on with by whoever takes the first candidate.
func sought(q resume.Query, list engine.ResumeList, next string) error {
	hasRun, hasSession := q.Run == (id.Run{}), q.Session == (id.Session{})
	for _, found := range list.Candidates {
		hasRun = hasRun || found.RunID == q.Run
		hasSession = hasSession || found.SessionID == q.Session
	}
	var f *fault.Fault
	switch {
	case !hasRun:
		f = fault.New(fault.RunNotFound, "there is no run %s here that could be gone on with", q.Run)
	case !hasSession:
		f = fault.New(fault.SessionNotFound, "there is no session %s here that could be gone on with", q.Session)
	default:
		return nil
	}
	f = f.Suggest("%s", next)
	if list.Skipped > 0 {
		f = f.With("skippedSessions", list.Skipped)
	}
	return f
}

// tellCandidates shows each with why it is offered and how to go on with it.
func (a *app) tellCandidates(list engine.ResumeList, p *page) {
	if len(list.Candidates) == 0 {
		p.line("No run that could be gone on with.")
	}
	for i, c := range list.Candidates {
		if i > 0 {
			p.line("")
		}
		p.painted(p.mark(c.Status)+" ", c.Title+"  "+told(c.Status), p.bold)
		var why []string
		for _, w := range c.WhyMatched {
			why = append(why, toldReason(w))
		}
		p.facts(clean(c.WorkflowID), shortRun(c.RunID), a.ago(c.LastAtMs), strings.Join(why, ", "))
		if c.StepTitle != "" {
			p.text("  at ", c.StepTitle)
		}
		if c.Snippet != "" {
			p.text("  ", firstLines(c.Snippet, 3))
		}
		if c.StepID == "" || c.Status == projections.Cancelled || c.Status == projections.Failed {
			p.line("  %s", a.command("runs", "show", shortRun(c.RunID)))
			continue
		}
		p.line("  %s", a.command("continue", "--run", shortRun(c.RunID)))
	}
	if list.Skipped > 0 {
		p.line("")
		p.text(p.warn("! "), plural(int(list.Skipped), "session")+
			" could not be offered: damaged, or written by another program. 'waybill verify' says more.")
	}
}

// firstLines is the beginning of a text, for lists.
func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		return strings.Join(lines[:n], "\n") + " …"
	}
	return strings.Join(lines, "\n")
}

// toldReason is why a run is offered, in words.
func toldReason(r resume.Reason) string {
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
