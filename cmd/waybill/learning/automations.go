package learning

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/infra/cron"
	"github.com/waybill/waybill/infra/gitobserver"
)

// automationsLong is what 'waybill automations --help' prints above the usage.
const automationsLong = `An installed automation starts a workflow on a schedule. Waybill has no background
process: 'waybill automations due' lists what is due, and with --start starts it. Call
it from cron, a systemd timer or another scheduler, at least as often as the schedules
fire.`

// NewAutomations returns the command "automations". Waybill runs no daemon: a
// scheduler of the machine calls "automations due", at least as often as the
// schedules fire.
func NewAutomations(a *cli.App) *cobra.Command {
	return cli.NewGroup("automations", cli.GroupRun, "List and start scheduled workflows", automationsLong,
		newAutomationsDue(a))
}

// automationsDueLong is what 'waybill automations due --help' prints above the
// usage.
const automationsDueLong = `List the installed automations that are due: the schedule has fired since it was
installed, and no run was started for that time. Several missed times are due once, as
the latest of them. Without --start nothing is changed.

--start starts a run for each. Concurrent calls start one run per scheduled time. The
runs are left at their first step, for a performer to continue. The exit status is 1 if
a run could not be started. --all also lists automations that are not due, with the next
time.`

// newAutomationsDue returns "automations due". It lists what is due. With --start
// it starts each of them under an idempotency key that is derived from the
// scheduled time, so that concurrent callers start one run. --at evaluates
// another time and cannot be combined with --start.
//
// A failed start is part of the document; the others are still tried, and the
// exit status is 1. A schedule that cannot be evaluated is listed with its
// problem.
func newAutomationsDue(a *cli.App) *cobra.Command {
	var at string
	var all, start bool
	return cli.WithOptions(&cobra.Command{
		Use:     "due",
		Short:   "List automations that are due, and start them",
		Long:    automationsDueLong,
		Example: "  waybill automations due\n  waybill automations due --start\n  waybill automations due --all --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The clock is read once, so that all rows are evaluated at the same
			// time.
			now := a.NowMs()
			if at != "" {
				when, err := time.Parse(time.RFC3339, at)
				if err != nil || start {
					return cli.UsageFault(cmd, "--at %q is not a time, or is combined with --start", at).
						Suggest("Give a time such as 2006-01-02T15:04:05Z, without --start.")
				}
				now = when.UnixMilli()
			}
			return cli.ShowVerdict(a, cmd, "automations",
				func(ctx context.Context, o *cli.Store) (doc document.Automations, err error) {
					list, err := o.Automations(ctx, cron.Schedules{}, a.Flags.Workspace, now)
					if err != nil {
						return doc, err
					}
					nameSources(ctx, a, list.Automations)
					doc.AutomationList = list
					if !all {
						doc.Automations = slices.DeleteFunc(slices.Clone(list.Automations), isQuiet)
					}
					if start {
						doc.Started = startDue(ctx, a, o, list.Automations)
					}
					return doc, nil
				},
				func(p *page.Page, doc document.Automations) { showAutomations(a, doc, all, p) },
				startStatus)
		},
	},
		cli.Opt(&at, "at TIME", "list what is due at TIME (RFC 3339) instead of now"),
		cli.Opt(&all, "all", "also list automations that are not due"),
		cli.Opt(&start, "start", "start a run for each automation that is due"),
		cli.Lines(a, "automations"))
}

// nameSources fills in from which source the workflow of each automation is found, if it is.
func nameSources(ctx context.Context, a *cli.App, rows []learning.AutomationRow) {
	if len(rows) == 0 {
		return
	}
	c, err := a.Catalog(ctx)
	for i := range rows {
		if e, findErr := c.Find(rows[i].WorkflowID); err == nil && findErr == nil {
			rows[i].Source = e.Source()
		}
	}
}

// startStatus returns the exit status: 1 if a due automation could not be
// started, else 0.
func startStatus(doc document.Automations) int {
	for _, s := range doc.Started {
		if s.Error != nil {
			return fault.ExitFailed
		}
	}
	return fault.ExitDone
}

// isQuiet reports whether an automation is not due. One whose schedule cannot be evaluated is
// listed with those that are due: a user must see the problem.
func isQuiet(row learning.AutomationRow) bool { return !row.Due && row.Problem == "" }

// startDue starts each automation that is due, in the order of the list. An
// error becomes part of the answer and does not stop the loop.
func startDue(ctx context.Context, a *cli.App, o *cli.Store, all []learning.AutomationRow) []document.AutomationStart {
	out := []document.AutomationStart{}
	for _, row := range all {
		// An automation that was started for this time already is not due.
		if !row.Due {
			continue
		}
		s := document.AutomationStart{AutomationID: row.AutomationID}
		answer, err := startAutomation(ctx, a, o, row)
		if err != nil {
			// The remaining automations are still started.
			f := faults.Redact(fault.Of(err))
			s.Error = &document.AutomationFault{Code: f.Code, Message: f.Message}
		} else {
			s.SessionID, s.RunID = answer.Session.SessionID, answer.Session.RunID
		}
		out = append(out, s)
	}
	return out
}

// startAutomation starts one run, as 'start' does, with observations of the
// workspace. The workflow is looked up by its id in the current catalog, and the
// run is pinned to it. The key names the automation and its scheduled time:
// repeating the start, by any caller, returns the run that exists.
func startAutomation(ctx context.Context, a *cli.App, o *cli.Store, row learning.AutomationRow) (engine.Answer, error) {
	w, err := a.Workflow(ctx, row.WorkflowID)
	if err != nil {
		return engine.Answer{}, err
	}
	seed, err := a.Seed()
	if err != nil {
		return engine.Answer{}, err
	}
	_, root, err := a.Workspace()
	if err != nil {
		return engine.Answer{}, err
	}
	return o.Start(ctx, o.Caller(), seed, engine.Start{Workflow: w.Compiled, SourceKind: cli.RecordedSourceKind(w.Kind),
		SourceRef: w.Ref, Title: row.Title,
		Key: row.StartKey, Automation: true, Context: row.Context, Observations: gitobserver.Observe(root)})
}

// showAutomations prints a table of the automations, and below it their problems,
// the runs that were started and the errors. A damaged log of proposals is reported first,
// since automations may be missing then.
func showAutomations(a *cli.App, doc document.Automations, all bool, p *page.Page) {
	if doc.Health != manifest.Healthy {
		p.Line("%s The log of proposals is %s: artifacts that cannot be verified are not in use.", p.Bad("!"),
			doc.Health)
	}
	if len(doc.Automations) == 0 {
		p.Line("Nothing is due.")
		if !all {
			p.Line("%s", p.Dim("List all schedules: "+a.Command("automations", "due", "--all")))
		}
		return
	}
	rows := make([][]page.Cell, 0, len(doc.Automations))
	for _, r := range doc.Automations {
		rows = append(rows, []page.Cell{{Text: r.AutomationID, Paint: p.Bold}, stateCell(p, r),
			{Text: render.WorkflowID(r.WorkflowID, r.Source)}, {Text: r.Schedule.Cron + " " + r.Schedule.Timezone}, {Text: timeText(r)}})
	}
	p.Table([]page.Column{{Title: "AUTOMATION", Flex: true}, {Title: "STATE"}, {Title: "WORKFLOW", Flex: true},
		{Title: "SCHEDULE", Spare: true}, {Title: "TIME"}}, rows)
	for _, r := range doc.Automations {
		if r.Problem != "" {
			p.Text(p.Bad("✗")+" ", page.OneLine(r.AutomationID)+": "+page.OneLine(r.Problem))
		}
	}
	for _, s := range doc.Started {
		if s.Error != nil {
			p.Text(p.Bad("✗")+" ", page.OneLine(s.AutomationID)+": "+page.OneLine(s.Error.Message))
			continue
		}
		p.Line("%s %s: run %s", p.Good("✓"), page.OneLine(s.AutomationID), page.ShortRun(s.RunID))
	}
}

// stateCell returns the STATE column of a row: whether its schedule has a
// problem, which is shown below the table, or whether it is due, turned off, started for its last time, or waiting.
func stateCell(p *page.Page, r learning.AutomationRow) page.Cell {
	switch {
	case r.Problem != "":
		return page.Cell{Text: "problem", Paint: p.Bad}
	case r.Due:
		return page.Cell{Text: "due", Paint: p.Warn}
	case !r.Enabled:
		return page.Cell{Text: "off", Paint: p.Dim}
	case !r.SessionID.IsZero():
		return page.Cell{Text: "started", Paint: p.Good}
	}
	return page.Cell{Text: "waits"}
}

// timeText returns since when an automation is due, or when it fires next; ""
// if neither is known.
func timeText(r learning.AutomationRow) string {
	switch {
	case r.Due:
		return "since " + page.ClockTime(r.ScheduledAtMs, "2 Jan 2006 15:04")
	case r.NextAtMs > 0:
		return "next " + page.ClockTime(r.NextAtMs, "2 Jan 2006 15:04")
	}
	return ""
}
