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

// Automation is an installed automation: a workflow to start on a schedule.
type Automation struct {
	// ID is the slot's id: installing another artifact with the same id replaces this one.
	ID       string   `json:"automationId"`
	Schedule Schedule `json:"schedule"`
	// WorkflowID names an installed, bundled or local workflow. It is resolved when a run
	// starts, not when the automation is installed.
	WorkflowID  string      `json:"workflowId"`
	Title       string      `json:"title,omitzero"` // title of the runs it starts
	Description string      `json:"description,omitzero"`
	Context     canon.Value `json:"context,omitzero"` // context of the runs it starts; null: none
	Enabled     bool        `json:"enabled"`          // true if the artifact has no such member
}

// Schedule is when an automation starts its workflow.
type Schedule struct {
	Cron     string `json:"cron"`              // see Options.Schedule
	Timezone string `json:"timezone,omitzero"` // "": the default time zone
}

// automationShape is the shape of an automation; additional members are refused.
var automationShape = shape.Object{What: "an automation", Fields: []shape.Field{
	{"automationId", promptref.IDShape, required},
	{"schedule", shape.Object{What: "a schedule", Fields: []shape.Field{
		{"cron", shape.Text{Min: 1, Max: 256}, required},
		{"timezone", shape.Text{Min: 1, Max: 64}, optional}}}, required},
	{"workflowId", shape.Text{Min: 3, Max: 64}, required},
	{"title", nonEmpty, optional},
	{"description", shape.Text{Max: 2000}, optional},
	{"context", shape.AnyObject, optional},
	{"enabled", shape.Boolean, optional}}}

// checkAutomation checks an automation's shape, title, workflow id, context and schedule. It
// does not require that the workflow exists: workflows are installed and removed
// independently.
func checkAutomation(at problem.SourceValue, o Options, report problem.Report) {
	automationShape.Check(at, report)
	bytesAtMost(at.Member("title"), limits.TitleBytesMax, report)
	if id := at.Member("workflowId"); id.Value.Text() != "" && source.IDStatus(id.Value.Text()) == "" {
		report.Error(id, `Write the id of a workflow such as "team.nightly".`,
			"expected a workflow id of lowercase letters, digits, _ and -, got %s", shape.Got(id))
	}
	// The same rule as for a context that a caller sends: a run could not start with another.
	if context := at.Member("context"); context.Value.Kind() == canon.Object {
		if err := event.CheckContext(context.Value); err != nil {
			report.Error(context, "Correct the context with which runs start.", "no run can start with it: %s", err)
		}
	}
	checkSchedule(at.Member("schedule"), o, report)
}

// checkSchedule evaluates the cron expression first without and then with the time zone, so
// that the problem names the one that is invalid.
func checkSchedule(at problem.SourceValue, o Options, report problem.Report) {
	cron, zone := at.Member("cron"), at.Member("timezone")
	// Without a judge of schedules, or without a text, only the shape is checked.
	if o.Schedule == nil || cron.Value.Text() == "" {
		return
	}
	if err := o.Schedule(cron.Value.Text(), ""); err != nil {
		report.Error(cron, `Write a cron expression such as "0 6 * * 1-5".`, "the schedule is not understood: %s", err)
		return
	}
	if name := zone.Value.Text(); name != "" {
		if err := o.Schedule(cron.Value.Text(), name); err != nil {
			report.Error(zone, `Write the name of a time zone such as "Europe/Berlin".`,
				"the schedule is not understood in this time zone: %s", err)
		}
	}
}

// AutomationOf decodes an installed automation. "enabled" defaults to true.
func AutomationOf(artifact canon.Value) (Automation, error) {
	if _, ok := artifact.Get("enabled"); !ok && artifact.Kind() == canon.Object {
		artifact = artifact.With("enabled", canon.OfBool(true))
	}
	var out Automation
	err := canon.Decode(artifact, &out)
	return out, err
}
