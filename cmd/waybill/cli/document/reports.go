package document

import (
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/pages"
)

// ReportFile is the document "report_file": a report that was written.
type ReportFile struct {
	RunID id.Run `json:"runId"`
	File  string `json:"file"`
	// Format is html, markdown or json.
	Format  string           `json:"format"`
	LeftOut []report.LeftOut `json:"leftOut"`
}

// ReportIndex is the document "report_index": reports of several runs with a page that lists them.
type ReportIndex struct {
	Directory string `json:"directory"`
	// File is the page that lists the reports.
	File    string         `json:"file"`
	Reports []ReportFile   `json:"reports"`
	Failed  []pages.Failed `json:"failed"`
}
