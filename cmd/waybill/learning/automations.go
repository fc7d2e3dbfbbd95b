package learning

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/cron"
	"github.com/waybill/waybill/infra/gitobserver"
)

// automationsLong is what 'waybill automations --help' prints above the usage.
const automationsLong = `Installed automations say when a workflow is to be started. Nothing runs in the background:
'waybill automations due' tells what is due, and with --start begins it. Let cron, or
whatever starts things on this machine, call it as often as the schedules need.`

// NewAutomations makes the command "automations". There is no daemon: a
// scheduler of the machine calls "automations due" as often as the schedules
// need.
func NewAutomations(a *cli.App) *cobra.Command {
	return cli.NewGroup("automations", cli.GroupWork, "See and start what is scheduled", automationsLong,
		newAutomationsDue(a))
}

// automationsDueLong is what 'waybill automations due --help' prints above the
// usage.
const automationsDueLong = `Tell which installed automations are due: the schedule has fired since it was installed, and
nothing was started for that time. Times that were missed are due once, as the latest of
them.

--start begins each of them, once for each time it fires, however many callers there are;
the runs wait for their first step to be done. The exit status is 1 if one could not be
started. --all also tells those that are not due, with when they fire next.`

// newAutomationsDue makes "automations due". It lists what is due; with --start
// it starts each of them under a key that its time of firing gives, so that any
// number of callers start it once. --at looks at another time and therefore
// starts nothing.
//
// A failed start is part of the document and ends with exit status 1 after all
// others were tried. A schedule that cannot be evaluated is listed with its
// problem.
func newAutomationsDue(a *cli.App) *cobra.Command {
	var at string
	var all, start bool
	cmd := &cobra.Command{
		Use:     "due",
		Short:   "Tell which automations are due, and start them",
		Long:    automationsDueLong,
		Example: "  waybill automations due\n  waybill automations due --start\n  waybill automations due --all --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The time is asked once, so that all rows are about the same
			// moment.
			now := a.NowMs()
			if at != "" {
				when, err := time.Parse(time.RFC3339, at)
				if err != nil || start {
					return cli.UsageFault(cmd, "--at cannot be %q", at).
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
					doc.AutomationList = list
					if !all {
						doc.Automations = dueOf(list.Automations)
					}
					if start {
						doc.Started = startDue(ctx, a, o, list.Automations)
					}
					return doc, nil
				},
				func(p *page.Page, doc document.Automations) { showAutomations(a, doc, all, p) },
				startStatus)
		},
	}
	f := cmd.Flags()
	f.StringVar(&at, "at", "", "tell what is due at `TIME` instead of now")
	f.BoolVar(&all, "all", false, "tell those that are not due as well")
	f.BoolVar(&start, "start", false, "begin what is due")
	return cmd
}

// startStatus is the exit status: 1 where an automation that is due could not be started.
func startStatus(doc document.Automations) int {
	for _, s := range doc.Started {
		if s.Error != nil {
			return fault.ExitFailed
		}
	}
	return fault.ExitDone
}

// dueOf leaves out automations that need nothing done. One whose schedule
// cannot be evaluated stays in the list, with its problem.
func dueOf(all []engine.AutomationRow) []engine.AutomationRow {
	out := []engine.AutomationRow{}
	for _, row := range all {
		if row.Due || row.Problem != "" {
			out = append(out, row)
		}
	}
	return out
}

// startDue starts each automation that is due, in the order of the list. An
// error is part of the answer and does not keep the others from being started.
func startDue(ctx context.Context, a *cli.App, o *cli.Store, all []engine.AutomationRow) []document.AutomationStart {
	out := []document.AutomationStart{}
	for _, row := range all {
		// What was started before for this time is not due.
		if !row.Due {
			continue
		}
		s := document.AutomationStart{AutomationID: row.AutomationID}
		answer, err := startAutomation(ctx, a, o, row)
		if err != nil {
			// One failure must not keep the others from being started.
			s.Error = &document.AutomationFault{Code: fault.CodeOf(err), Message: fault.Of(err).Message}
		} else {
			s.SessionID, s.RunID = answer.Session.SessionID, answer.Session.RunID
		}
		out = append(out, s)
	}
	return out
}

// startAutomation starts one run, as 'start' does, with what can be seen of the
// workspace. The workflow is looked up by its id now, and the run is pinned to
// it. The key of the start names the automation and its time of firing: the
// same start again, by any caller, answers with the run that there is.
func startAutomation(ctx context.Context, a *cli.App, o *cli.Store, row engine.AutomationRow) (engine.Answer, error) {
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
	return o.Start(ctx, a.Caller(), seed, engine.Start{Workflow: w.Compiled, SourceKind: cli.Recorded(w.Kind),
		SourceRef: w.Ref, Title: row.Title,
		Key: row.StartKey, Context: row.Context, Observations: gitobserver.Observe(root)})
}

// showAutomations prints a table of the automations with what was started of
// them, and the errors below it. A log of proposals that is not healthy is
// named first, since automations may be missing then.
func showAutomations(a *cli.App, doc document.Automations, all bool, p *page.Page) {
	if doc.Health != manifest.Healthy {
		p.Line("%s The log of the proposals is %s: what cannot be told for sure is not in use.", p.Bad("!"), doc.Health)
	}
	if len(doc.Automations) == 0 {
		p.Line("Nothing is due.")
		if !all {
			p.Line("%s", p.Dim("See what is scheduled: "+a.Command("automations", "due", "--all")))
		}
		return
	}
	rows := make([][]page.Cell, 0, len(doc.Automations))
	for _, r := range doc.Automations {
		rows = append(rows, []page.Cell{{Text: r.AutomationID, Paint: p.Bold}, dueCell(p, r), {Text: r.WorkflowID},
			{Text: r.Schedule.Cron + " " + r.Schedule.Timezone}, {Text: whenOf(r)}})
	}
	p.Table([]page.Column{{Title: "AUTOMATION"}, {Title: "STATE"}, {Title: "WORKFLOW", Flex: true},
		{Title: "SCHEDULE", Spare: true}, {Title: "TIME"}}, rows)
	for _, s := range doc.Started {
		if s.Error != nil {
			p.Text(p.Bad("✗")+" ", page.Clean(s.AutomationID)+": "+page.Clean(s.Error.Message))
			continue
		}
		p.Line("%s %s: run %s", p.Good("✓"), page.Clean(s.AutomationID), page.ShortRun(s.RunID))
	}
}

// dueCell is the column of a row that says whether it is due, was started now,
// or has a problem.
func dueCell(p *page.Page, r engine.AutomationRow) page.Cell {
	switch {
	case r.Problem != "":
		return page.Cell{Text: r.Problem, Paint: p.Bad}
	case r.Due:
		return page.Cell{Text: "due", Paint: p.Warn}
	case !r.Enabled:
		return page.Cell{Text: "off", Paint: p.Dim}
	case !r.SessionID.IsZero():
		return page.Cell{Text: "started", Paint: p.Good}
	}
	return page.Cell{Text: "waits"}
}

// whenOf is since when an automation is due, or when it fires next; "" where
// neither is known.
func whenOf(r engine.AutomationRow) string {
	switch {
	case r.Due:
		return "since " + page.ClockTime(r.ScheduledAtMs, "2 Jan 2006 15:04")
	case r.NextAtMs > 0:
		return "next " + page.ClockTime(r.NextAtMs, "2 Jan 2006 15:04")
	}
	return ""
}
