package document

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

// TestReport is the document "workflow_test": the files of tests of a workflow with the results of their cases. OK is
// false if a case fails or a file cannot be true.
type TestReport struct {
	OK           bool         `json:"ok"`
	WorkflowID   string       `json:"workflowId"`
	SourceRef    string       `json:"sourceRef"`
	WorkflowHash canon.Digest `json:"workflowHash"`
	Files        []TestFile   `json:"files"`
	// Coverage is what no case reached, with --coverage.
	Coverage *trial.CoverageReport `json:"coverage,omitzero"`
}

// TestFile is one file of tests. A file with problems was not performed.
type TestFile struct {
	File     string                 `json:"file"`
	Problems []workflowtest.Problem `json:"problems"`
	trial.Report
}

// TestWritten is the document "workflow_test_file": the file of tests that was written. Warnings are what of the
// recorded run the cases do not have.
type TestWritten struct {
	File     string   `json:"file"`
	RunID    string   `json:"runId"`
	OK       bool     `json:"ok"` // the case holds of the workflow as it is now
	Warnings []string `json:"warnings"`
}
