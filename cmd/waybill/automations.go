package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/cron"
	"github.com/waybill/waybill/infra/gitobserver"
)

const automationsLong = `Installed automations say when a workflow is to be started. Nothing runs in the background:
'waybill automations due' tells what is due, and with --start begins it. Let cron, or
whatever starts things on this machine, call it as often as the schedules need.`

func newAutomationsCommand(a *app) *cobra.Command {
	return newGroup("automations", groupWork, "See and start what is scheduled", automationsLong,
		newAutomationsDueCommand(a))
}

const automationsDueLong = `Tell which installed automations are due: the schedule has fired since it was installed, and
nothing was started for that time. Times that were missed are due once, as the latest of
them.

--start begins each of them, once for each time it fires, however many callers there are;
the runs wait for their first step to be done. The exit status is 1 if one could not be
started. --all also tells those that are not due, with when they fire next.`

// automationsDue is the document "automations", with what was begun.
type automationsDue struct {
	engine.AutomationList
	Started []automationStart `json:"started,omitzero"`
}

// automationStart is what became of starting one.
type automationStart struct {
	AutomationID string      `json:"automationId"`
	SessionID    id.Session  `json:"sessionId,omitzero"`
	RunID        id.Run      `json:"runId,omitzero"`
	Error        *startFault `json:"error,omitzero"`
}

// startFault is why one could not be started.
type startFault struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

func newAutomationsDueCommand(a *app) *cobra.Command {
	var at string
	var all, start bool
	cmd := &cobra.Command{
		Use:     "due",
		Short:   "Tell which automations are due, and start them",
		Long:    automationsDueLong,
		Example: "  waybill automations due\n  waybill automations due --start\n  waybill automations due --all --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := a.nowMs()
			if at != "" {
				when, err := time.Parse(time.RFC3339, at)
				if err != nil || start {
					return usageFault(cmd, "--at cannot be %q", at).
						Suggest("Give a time such as 2006-01-02T15:04:05Z, without --start.")
				}
				now = when.UnixMilli()
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.Automations(cmd.Context(), cron.Schedules{}, a.common.workspace, now)
			if err != nil {
				return err
			}
			doc := automationsDue{AutomationList: list}
			if !all {
				doc.Automations = dueOf(list.Automations)
			}
			if start {
				doc.Started = a.startDue(cmd.Context(), o, list.Automations)
			}
			if err := a.answer("automations", doc, func(p *page) { a.tellAutomations(doc, all, p) }); err != nil {
				return err
			}
			for _, s := range doc.Started {
				if s.Error != nil {
					return exitWith(fault.ExitFailed)
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&at, "at", "", "tell what is due at `TIME` instead of now")
	f.BoolVar(&all, "all", false, "tell those that are not due as well")
	f.BoolVar(&start, "start", false, "begin what is due")
	return cmd
}

// dueOf leaves out what nobody has to do anything about. One of which that cannot be
// told stays.
func dueOf(all []engine.AutomationRow) []engine.AutomationRow {
	out := []engine.AutomationRow{}
	for _, row := range all {
		if row.Due || row.Problem != "" {
			out = append(out, row)
		}
	}
	return out
}

// startDue begins each automation that is due. One that cannot be begun does not keep
// the others.
func (a *app) startDue(ctx context.Context, o *opened, all []engine.AutomationRow) []automationStart {
	out := []automationStart{}
	for _, row := range all {
		if !row.Due {
			continue
		}
		s := automationStart{AutomationID: row.AutomationID}
		answer, err := a.startAutomation(ctx, o, row)
		if err != nil {
			s.Error = &startFault{fault.CodeOf(err), fault.Of(err).Message}
		} else {
			s.SessionID, s.RunID = answer.Session.SessionID, answer.Session.RunID
		}
		out = append(out, s)
	}
	return out
}

func (a *app) startAutomation(ctx context.Context, o *opened, row engine.AutomationRow) (engine.Answer, error) {
	w, err := a.workflow(ctx, row.WorkflowID)
	if err != nil {
		return engine.Answer{}, err
	}
	seed, err := a.seed()
	if err != nil {
		return engine.Answer{}, err
	}
	_, root, err := a.workspace()
	if err != nil {
		return engine.Answer{}, err
	}
	return o.Start(ctx, a.caller(), seed, engine.Start{Workflow: w.Compiled, SourceKind: recorded(w.Kind),
		SourceRef: w.Ref, Title: row.Title,
		Key: row.StartKey, Context: row.Context, Observations: gitobserver.Observe(root)})
}

func (a *app) tellAutomations(doc automationsDue, all bool, p *page) {
	if doc.Health != manifest.Healthy {
		p.line("%s The log of the proposals is %s: what cannot be told for sure is not in use.", p.bad("!"), doc.Health)
	}
	if len(doc.Automations) == 0 {
		p.line("Nothing is due.")
		if !all {
			p.line("%s", p.dim("See what is scheduled: "+a.command("automations", "due", "--all")))
		}
		return
	}
	rows := make([][]cell, 0, len(doc.Automations))
	for _, r := range doc.Automations {
		rows = append(rows, []cell{{text: r.AutomationID, paint: p.bold}, p.dueCell(r), {text: r.WorkflowID},
			{text: r.Schedule.Cron + " " + r.Schedule.Timezone}, {text: whenOf(r)}})
	}
	p.table([]column{{title: "AUTOMATION"}, {title: "STATE"}, {title: "WORKFLOW", flex: true},
		{title: "SCHEDULE", spare: true}, {title: "TIME"}}, rows)
	for _, s := range doc.Started {
		if s.Error != nil {
			p.text(p.bad("✗")+" ", clean(s.AutomationID)+": "+clean(s.Error.Message))
			continue
		}
		p.line("%s %s: run %s", p.good("✓"), clean(s.AutomationID), shortRun(s.RunID))
	}
}

// dueCell says how an automation stands.
func (p *page) dueCell(r engine.AutomationRow) cell {
	switch {
	case r.Problem != "":
		return cell{text: r.Problem, paint: p.bad}
	case r.Due:
		return cell{text: "due", paint: p.warn}
	case !r.Enabled:
		return cell{text: "off", paint: p.dim}
	case !r.SessionID.IsZero():
		return cell{text: "started", paint: p.good}
	}
	return cell{text: "waits"}
}

// whenOf is since when it is due, or when it fires next.
func whenOf(r engine.AutomationRow) string {
	switch {
	case r.Due:
		return "since " + clockTime(r.ScheduledAtMs, "2 Jan 2006 15:04")
	case r.NextAtMs > 0:
		return "next " + clockTime(r.NextAtMs, "2 Jan 2006 15:04")
	}
	return ""
}
