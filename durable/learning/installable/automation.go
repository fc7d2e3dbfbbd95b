package installable

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Automation is one that was installed: a workflow to start by a schedule.
type Automation struct {
	ID          string      `json:"automationId"`
	Schedule    Schedule    `json:"schedule"`
	WorkflowID  string      `json:"workflowId"`
	Title       string      `json:"title,omitzero"` // of the runs that it starts
	Description string      `json:"description,omitzero"`
	Context     canon.Value `json:"context,omitzero"` // what its runs start with; null for nothing
	Enabled     bool        `json:"enabled"`          // true where the artifact does not say
}

// Schedule says when.
type Schedule struct {
	Cron     string `json:"cron"`
	Timezone string `json:"timezone,omitzero"` // "" is the default one
}

// automationShape is closed as the others are.
var automationShape = shape.ObjectOf("an automation",
	shape.Need("automationId", promptref.IDShape),
	shape.Need("schedule", shape.ObjectOf("a schedule",
		shape.Need("cron", shape.Text{Min: 1, Max: 256}),
		shape.May("timezone", shape.Text{Min: 1, Max: 64}))),
	shape.Need("workflowId", shape.Text{Min: 3, Max: 64}),
	shape.May("title", nonEmpty),
	shape.May("description", shape.Text{Max: 2000}),
	shape.May("context", shape.AnyObject),
	shape.May("enabled", shape.Boolean))

// checkAutomation does not ask whether there is such a workflow: it may come later, and
// may go.
func checkAutomation(at problem.Place, o Options, report problem.Report) {
	automationShape.Check(at, report)
	bytesAtMost(at.Member("title"), limits.TitleBytesMax, report)
	if id := at.Member("workflowId"); id.Value.Text() != "" && source.IDStatus(id.Value.Text()) == "" {
		report.Error(id, `Write the id of a workflow such as "team.nightly".`,
			"expected a workflow id of lowercase letters, digits, _ and -, got %s", shape.Got(id))
	}
	if context := at.Member("context"); context.Value.Kind() == canon.Object {
		if err := event.CheckContext(context.Value); err != nil {
			report.Error(context, "Correct the context with which runs start.", "no run can start with it: %s", err)
		}
	}
	checkSchedule(at.Member("schedule"), o, report)
}

// checkSchedule asks twice, so that a time zone that is not known is told from a cron
// text that is not understood.
func checkSchedule(at problem.Place, o Options, report problem.Report) {
	cron, zone := at.Member("cron"), at.Member("timezone")
	if o.Schedule == nil || cron.Value.Text() == "" {
		return
	}
	if err := o.Schedule(cron.Value.Text(), ""); err != nil {
		report.Error(cron, `Write a cron text such as "0 6 * * 1-5".`, "the schedule is not understood: %s", err)
		return
	}
	if name := zone.Value.Text(); name != "" {
		if err := o.Schedule(cron.Value.Text(), name); err != nil {
			report.Error(zone, `Write the name of a time zone such as "Europe/Berlin".`,
				"the schedule is not understood in this time zone: %s", err)
		}
	}
}

// AutomationOf reads an installed automation.
func AutomationOf(artifact canon.Value) (Automation, error) {
	if _, said := artifact.Get("enabled"); !said && artifact.Kind() == canon.Object {
		artifact = artifact.With("enabled", canon.OfBool(true))
	}
	var out Automation
	err := canon.Decode(artifact, &out)
	return out, err
}
