package runs

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/commits"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/gitcommits"
)

// whoLong is what 'waybill who --help' prints above the usage.
const whoLong = `Show the runs that a commit names in its Waybill-Run trailers: for each the step that was
pending when the commit was made, and the decisions of people about the run until now.
COMMIT is a commit of the repository of the working directory, as git names it, or a range
A..B of at most 100 commits. The messages are read by git.

A trailer is part of a message that any author of a commit can write. What it names is
looked up in this store: the head shows whether the log of the run still contains what was
recorded up to the commit. A run that is not in this store, and a head that is not in the
log of its run, are reported as such. Without any run that this store has, the exit status
is 6.

'waybill trailer' prints the trailer of a commit that is made now.`

// NewWho returns the command "who". It only reads.
func NewWho(a *cli.App) *cobra.Command {
	return cli.WithOptions(&cobra.Command{
		Use:     "who COMMIT",
		GroupID: cli.GroupInspect,
		Short:   "Show the runs, steps and decisions behind a commit",
		Long:    whoLong,
		Example: "  waybill who HEAD\n  waybill who main..HEAD\n  waybill who v1.4.0 --json | jq .data.runs",
		Args:    cli.Exactly("COMMIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.ShowVerdict(a, cmd, "who",
				func(ctx context.Context, o *cli.Store) (commits.Who, error) { return who(ctx, a, o, args[0]) },
				func(p *page.Page, doc commits.Who) { showWho(a, p, doc) }, whoStatus)
		},
	}, cli.Lines(a, "runs"))
}

// who reads commits and looks up what they name.
func who(ctx context.Context, a *cli.App, o *cli.Store, name string) (commits.Who, error) {
	dir, err := os.Getwd()
	if err != nil {
		return commits.Who{}, fault.Wrap(err, fault.StoreIO, "cannot determine the working directory: %v", err)
	}
	found, err := gitcommits.Repository{Dir: dir, Env: a.Env}.Read(ctx, name)
	if err != nil {
		return commits.Who{}, err
	}
	messages := make([]commits.Message, len(found))
	for i, c := range found {
		messages[i] = commits.Message{Commit: c.ID, Text: c.Message, Cut: c.Cut}
	}
	return o.Commits.Who(ctx, messages)
}

// whoStatus returns the exit status: 6 if no trailer names a run of this store.
func whoStatus(doc commits.Who) int {
	if slices.ContainsFunc(doc.Runs, func(r commits.NamedRun) bool { return r.InStore }) {
		return fault.ExitDone
	}
	return fault.ExitNotFound
}

// commitShown is the number of characters of a commit's id that are shown at a terminal.
const commitShown = 12

// showWho prints each commit with the runs that it names.
func showWho(a *cli.App, p *page.Page, doc commits.Who) {
	if len(doc.Commits) == 0 {
		p.Line("The range has no commits.")
	}
	rest, decided := doc.Runs, false
	for i, c := range doc.Commits {
		if i > 0 {
			p.Blank()
		}
		p.StyledText(p.Name(c.Commit[:commitShown], c.Commit)+" ", c.Subject, p.Bold)
		if c.Trailers == 0 {
			p.Text("  ", "It names no run.")
		}
		for len(rest) > 0 && rest[0].Commit == c.Commit {
			showNamedRun(a, p, rest[0])
			decided = decided || len(rest[0].Decisions) > 0
			rest = rest[1:]
		}
		showLeftOut(p, c)
	}
	if doc.Omitted > 0 {
		p.Text(p.Warn("! "), page.Plural(doc.Omitted, "more trailer")+" not looked up.")
	}
	if doc.Unreadable > 0 {
		p.Text(p.Warn("! "), page.Plural(doc.Unreadable, "session")+" could not be read. Run 'waybill verify' for details.")
	}
	if decided {
		p.Blank()
		render.ClaimNote(p, true)
	}
}

// showLeftOut prints what of a commit's message is no trailer or was not looked up.
func showLeftOut(p *page.Page, c commits.NamingCommit) {
	if c.Omitted > 0 {
		p.Text("  "+p.Warn("! "), page.Plural(c.Omitted, "trailer")+" before these not looked up.")
	}
	if c.Malformed > 0 {
		p.Text("  "+p.Warn("! "), page.Plural(c.Malformed, "malformed trailer")+" ignored.")
	}
	if c.Cut {
		p.Text("  "+p.Warn("! "), "Only the beginning of its message was read.")
	}
}

// showNamedRun prints a run that a commit names, the step at the commit, and the decisions about it.
func showNamedRun(a *cli.App, p *page.Page, r commits.NamedRun) {
	if !r.InStore {
		p.Text("  "+p.Warn("! "), r.RunID.String()+" is not in this store")
		return
	}
	p.StyledText("  "+render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), page.Plain)
	facts := page.ShortRun(r.RunID)
	if r.StepInstanceKey != "" {
		facts += " at step " + render.Key(r.StepInstanceKey)
	} else if r.HeadKnown {
		facts += " with no step pending"
	}
	p.StyledText("    ", facts+" · "+r.WorkflowID, p.Dim)
	if !r.HeadKnown && r.Unreadable == "" {
		p.Text("    "+p.Warn("! "), "The log of the run does not contain the head of the trailer, "+r.Head.String())
	}
	if r.Imported {
		p.Text("    "+p.Warn("! "), "The run was imported, and not continued in this store")
	}
	if r.Unreadable != "" {
		p.Text("    "+p.Bad("✗ "), r.Unreadable)
	}
	for _, d := range r.Decisions {
		p.Text("    ", "step "+render.Key(d.StepInstanceKey)+" "+decisionText(d))
	}
	p.Line("    %s", a.Command("runs", "show", page.ShortRun(r.RunID)))
}
