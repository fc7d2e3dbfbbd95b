package work

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	performing "github.com/waybill/waybill/cmd/waybill/cli/unattended"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/projections/runs"
)

// dueLong is what 'waybill due --help' prints above the usage.
const dueLong = `List the runs whose wait is over. A step with the action wait is pending until a moment;
no process runs meanwhile. A run is listed until it is continued; one that was
interrupted at a command behind the wait, as by a crash, is listed too.

--run continues each of them as 'waybill run' does without a terminal: to its end, or to
the first step that needs a person. Commands run in the current directory, and only of
workflows that a person has trusted there (waybill trust). Imported runs that no person
has continued in this store are skipped, and so are runs that another process performs:
of any number of concurrent calls one continues a run. The exit status is 1 if a run
failed, else 0.

--print-timer prints a systemd timer and a crontab line that call 'waybill due --run'
every minute for this store and directory. It changes nothing.`

// dueInput holds the flags of due.
type dueInput struct{ run, printTimer bool }

// NewDue returns the command "due". Waybill has no background process: a scheduler of the machine
// calls "due --run". One run that fails does not stop the others.
func NewDue(a *cli.App) *cobra.Command {
	var in dueInput
	return cli.WithOptions(&cobra.Command{
		Use:     "due",
		GroupID: cli.GroupRun,
		Short:   "List runs whose wait is over, and continue them",
		Long:    dueLong,
		Example: "  waybill due\n  waybill due --run\n  waybill due --print-timer",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case in.run && in.printTimer:
				return cli.UsageFault(cmd, "--run and --print-timer cannot be combined")
			case in.printTimer:
				return printTimer(a)
			}
			return cli.ShowVerdict(a, cmd, "due",
				func(ctx context.Context, o *cli.Store) (document.Due, error) { return due(ctx, a, o, in.run) },
				func(p *page.Page, doc document.Due) { showDue(a, p, doc, in.run) }, dueStatus)
		},
	},
		cli.Opt(&in.run, "run", "continue each run that is listed"),
		cli.Opt(&in.printTimer, "print-timer", "print a systemd timer and a crontab line that call 'waybill due --run'"),
		cli.Lines(a, "items"))
}

// due lists the runs whose wait is over, and with run continues them.
func due(ctx context.Context, a *cli.App, o *cli.Store, run bool) (document.Due, error) {
	list, err := o.Due(ctx, a.NowMs())
	doc := document.Due{Items: []document.DueItem{}, Ahead: list.Ahead, NextAtMs: list.NextAtMs, Unreadable: list.Unreadable}
	if err != nil {
		return doc, err
	}
	if run {
		root, err := a.TrustRoot()
		if err != nil {
			return doc, err
		}
		pool := performing.NewPool(a, o, root, "", 1)
		defer pool.Close()
		var stop func()
		ctx, stop = performing.UntilSignal(ctx, nil, func() {})
		defer stop()
		err = continueAll(ctx, pool, list.Items, &doc)
		return doc, err
	}
	for _, row := range list.Items {
		doc.Items = append(doc.Items, document.DueItem{DueRun: row})
	}
	return doc, nil
}

// continueAll performs runs without a person, one after the other, and adds them to the document.
func continueAll(ctx context.Context, pool *performing.Pool, all []unattended.DueRun, doc *document.Due) error {
	for _, row := range all {
		item := document.DueItem{DueRun: row}
		if err := continueDue(ctx, pool, &item); err != nil {
			return err
		}
		doc.Items = append(doc.Items, item)
	}
	return nil
}

// continueDue performs one run without a person and fills in what happened. The error is INTERRUPTED:
// any other concerns the run alone.
func continueDue(ctx context.Context, pool *performing.Pool, item *document.DueItem) error {
	if item.Imported {
		// A bundle must not start commands here; a person who continues the run takes it over.
		item.Outcome = unattended.DueSkipped
		item.Error = document.DueFaultOf(pool.Imported(item.RunID))
		return nil
	}
	report, err := pool.Perform(ctx, item.SessionID, item.RunID, perform.Options{Expect: item.Attempt}, nil)
	item.Performed = report.Performed
	if fault.Is(err, fault.Interrupted) {
		return err
	}
	item.Outcome = outcomeOf(report, err)
	if err != nil && !errors.Is(err, perform.ErrMoved) {
		item.Error = document.DueFaultOf(pool.Explain(err))
	}
	return nil
}

// outcomeOf returns how far a run got. The error states why it stopped.
func outcomeOf(report perform.Report, err error) unattended.DueOutcome {
	switch f := fault.CodeOf(err); {
	case errors.Is(err, perform.ErrMoved), f == fault.RunBusy, f == fault.RunClosed, err == nil && report.Already:
		return unattended.DueBusy
	case err == nil && report.Last.Status != runs.Failed:
		return unattended.DueComplete
	case fault.ExitOf(err) == fault.ExitWaiting:
		return unattended.DueWaiting
	}
	return unattended.DueFailed
}

// dueStatus returns the exit status: 1 if a run failed, else 0.
func dueStatus(doc document.Due) int {
	for _, item := range doc.Items {
		if item.Outcome == unattended.DueFailed {
			return fault.ExitFailed
		}
	}
	return fault.ExitDone
}

// dueTime is the layout of moments.
const dueTime = "2 Jan 2006 15:04"

// showDue prints a table of the runs, and below it what happened to them.
func showDue(a *cli.App, p *page.Page, doc document.Due, ran bool) {
	var rows [][]page.Cell
	for _, r := range doc.Items {
		rows = append(rows, []page.Cell{{Text: p.Name(page.ShortRun(r.RunID), r.RunID.String()), Paint: p.Bold},
			{Text: page.ClockTime(r.AtMs, dueTime)}, {Text: r.StepID}, {Text: r.Title}})
	}
	if len(rows) == 0 {
		p.Line("No run is due.")
	} else {
		p.Table([]page.Column{{Title: "RUN"}, {Title: "DUE SINCE"}, {Title: "STEP"}, {Title: "TITLE", Flex: true}}, rows)
	}
	for _, r := range doc.Items {
		showOutcome(p, r)
	}
	if doc.Ahead > 0 {
		p.Line("%s", p.Dim(page.Plural(doc.Ahead, "run")+" still "+page.Choose(doc.Ahead, "waits", "wait")+", the first until "+
			page.ClockTime(doc.NextAtMs, dueTime)+"."))
	}
	if len(rows) > 0 && !ran {
		p.Line("%s", p.Dim("Continue: "+a.Command("due", "--run")))
	}
	showUnreadable(p, doc.Unreadable)
}

// showOutcome prints what happened to a run, nothing without --run.
func showOutcome(p *page.Page, r document.DueItem) {
	lead := page.ShortRun(r.RunID) + " "
	switch r.Outcome {
	case "":
		return
	case unattended.DueComplete:
		p.Line("%s %s", p.Good("✓"), lead+"is complete")
	case unattended.DueBusy:
		p.Line("%s %s", p.Dim("·"), lead+"is performed, or was continued, by another process")
	case unattended.DueFailed:
		p.Text(p.Bad("✗")+" ", lead+page.OneLine(r.Error.Message))
	default:
		p.Text(p.Warn("!")+" ", lead+page.OneLine(r.Error.Message))
	}
	if r.Error != nil && r.Error.Suggestion != "" {
		p.Text("  ", r.Error.Suggestion)
	}
}

// showUnreadable prints the sessions that may wait and could not be read.
func showUnreadable(p *page.Page, all []views.Unreadable) {
	for _, u := range all {
		p.Text(p.Bad("✗ "), u.SessionID.String()+" cannot be read: "+page.OneLine(u.Message))
	}
}
