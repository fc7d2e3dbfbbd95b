package pages

import (
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/markup"
)

// Runs returns a table of runs. link returns the address of the page of a run, ok false for a run without one.
func Runs(rows []views.RunSummary, link func(views.RunSummary) (to markup.URL, ok bool)) Section {
	if len(rows) == 0 {
		return Section{"runs", "Runs", paragraph(markup.Text("No run is selected."))}
	}
	t := table{caption: "Runs, the one with the latest event first", columns: []string{"Run", "Status", "Done",
		"Workflow", "Last event"}}
	for _, r := range rows {
		name := markup.Text(sentence(r.Title))
		if to, ok := link(r); ok {
			name = markup.Link(to, name)
		}
		status := cell{badge(toneOf(r.Status), plain(r.Status))}
		if r.Health != manifest.Healthy {
			status = append(status, markup.Text(" "), badge(bad, plain(r.Health)))
		}
		t.row([]*markup.Node{markup.Data("run", r.RunID.String())}, cell{name, markup.E(markup.Br), mono(r.RunID.String())},
			status,
			cell{markup.Text(progress(r.Progress))}, cell{markup.Text(r.WorkflowID)}, cell{when(r.LastAtMs)})
	}
	return Section{"runs", "Runs", t.node()}
}

// Index is a page that lists runs and links to their reports.
type Index struct {
	Rows []views.RunSummary
	// File returns the name of the report of a run beside the page, ok false for a run without one.
	File     func(views.RunSummary) (name string, ok bool)
	Failed   []Failed
	MadeAtMs int64
	Version  string
}

// Failed is a run, or a session, of which there is no report, and why.
type Failed struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Node returns the page.
func (x Index) Node() *markup.Node {
	sections := []Section{Runs(x.Rows, func(r views.RunSummary) (markup.URL, bool) {
		name, ok := x.File(r)
		return markup.File(name), ok
	})}
	if len(x.Failed) > 0 {
		t := table{caption: "Runs and sessions without a report", columns: []string{"Name", "Why"}}
		for _, f := range x.Failed {
			t.row([]*markup.Node{markup.Data("failed", f.Name)}, cell{mono(f.Name)}, cell{markup.Text(f.Reason)})
		}
		sections = append(sections, Section{"failed", "Not reported", t.node()})
	}
	return Shell{Title: "Runs", Kicker: "Waybill run reports", Sections: sections,
		Lead: markup.E(markup.Div, markup.Cls("lead"), markup.Text(count(len(x.Rows), "run"))),
		End: paragraph(markup.Text("Made "), when(x.MadeAtMs), markup.Text(" by waybill "+x.Version+
			". Times are in UTC."))}.Node()
}
