package learning

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/log/manifest"
)

// TestAutomationsProblemIsBelowTheTable: the table stays narrow, and the whole problem is shown.
func TestAutomationsProblemIsBelowTheTable(t *testing.T) {
	problem := "a run of another workflow has the start key " + strings.Repeat("of this automation ", 12)
	row := learning.AutomationRow{Problem: problem, WorkflowID: "team.release"}
	row.AutomationID, row.Schedule.Cron = "nightly", "0 3 * * *"
	for _, width := range []int{40, 80, 0} {
		p := page.New(false, width)
		doc := document.Automations{}
		doc.Health, doc.Automations = manifest.Healthy, []learning.AutomationRow{row}
		showAutomations(&cli.App{}, doc, true, p)
		table, below, _ := strings.Cut(p.String(), "✗ nightly: ")
		if !strings.Contains(table, "problem") || strings.Contains(table, "start key") ||
			strings.Join(strings.Fields(below), " ") != strings.TrimSpace(problem) {
			t.Errorf("%d columns:\n%s", width, p)
		}
		for line := range strings.Lines(p.String()) {
			if width > 0 && page.TextWidth(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}

// TestAutomationsNameSources: of the workflow that would be started.
func TestAutomationsNameSources(t *testing.T) {
	attached := learning.AutomationRow{AutomationID: "a", WorkflowID: "wr.theirs", Source: "plugin:team"}
	doc := document.Automations{}
	doc.Health, doc.Automations = manifest.Healthy, []learning.AutomationRow{attached}
	p := page.New(false, 0)
	showAutomations(&cli.App{}, doc, true, p)
	if !strings.Contains(p.String(), "wr.theirs (plugin:team)") {
		t.Errorf("the source is not shown:\n%s", p)
	}
}
